import { createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";
import { SERVER_LIMITS } from "@petstore/http-adapter/internal";
import { expect, test } from "vitest";
import { hostTimers } from "../../../scripts/fake-timers.js";
import { compose, errorOf, HURRIED, PET, serve, serveHandler } from "./support/serve.js";

const TIMED_OUT = { ...errorOf(408, "request_timeout"), headers: { connection: "close" } };

test.each([
  ["nothing at all", ""],
  ["half a request line", "GET /v1/p"],
  ["half a header section", compose({}).slice(0, -2)],
])("a client that sends %s gets 408, and the rest is not a request", async (_, bytes) => {
  const { dial, store } = await serve({ limits: HURRIED });
  const wire = await dial(bytes);
  expect(await wire.response()).toMatchObject(TIMED_OUT);
  wire.send(`\r\n${compose({})}`);
  expect([await wire.rest(), store.anonymousQuota("127.0.0.1").remaining]).toEqual(["", 60]);
});

test.each([
  ["Content-Length: 100", 408],
  ["Transfer-Encoding: chunked", 408],
  ["Content-Length: 65537", 413],
])("half a body (%s) ends with %i", async (framing, status) => {
  // On a busy machine, the header section may take longer than the other limits to arrive and to be charged.
  const longer = { ...HURRIED, headersTimeoutSeconds: 1, requestTimeoutSeconds: 1 };
  const { dial, key } = await serve({ limits: longer, maxBodySeconds: 86_400 });
  const wire = await dial(compose({ method: "POST", key, headers: [framing] }) + "5\r\n{");
  const headers = { connection: "close", "x-ratelimit-remaining": "59" };
  expect(await wire.response()).toMatchObject({ status, headers });
  expect(await wire.rest()).toBe("");
});

test("on a host's own server a slow body ends by maxBodySeconds, whatever the host's fake timers do", async () => {
  hostTimers();
  const { dial, key } = await serveHandler((handle) => handle, { maxBodySeconds: 0.05 });
  const wire = await dial(compose({ method: "POST", key, body: PET }) + PET.slice(0, 5));
  expect(await wire.response()).toMatchObject(TIMED_OUT);
  expect(await wire.rest()).toBe("");
});

test("a client that closes its side after its request still gets a response, also a late one", async () => {
  const { dial, key } = await serve({
    fallback: ({ socket }, response) => {
      socket.once("end", () => setImmediate(() => response.end("late")));
    },
  });
  for (const [path, body] of Object.entries({ "/v1/pets": "[]", "/late": "late" })) {
    const wire = await dial();
    wire.socket.end(compose({ path, key }));
    expect(await wire.response()).toMatchObject({ status: 200, body });
    expect(await wire.rest()).toBe("");
  }
});

test("a silent connection is closed, also when CONNECT waits for a response that never comes", async () => {
  const { dial } = await serve({ limits: { timeoutSeconds: 0.05 }, fallback: () => undefined });
  for (const more of ["", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"])
    expect(await (await dial(compose({ path: "/" }) + more)).rest()).toBe("");
});

test("the default limits end every slow request within 15 s; undefined is a limit left out", () => {
  const store = createPetStore();
  const server = createPetStoreServer(store);
  const times = { headersTimeout: 8_000, requestTimeout: 12_000, keepAliveTimeout: 5_000 };
  expect(server).toMatchObject({ ...times, timeout: 30_000, maxRequestsPerSocket: 0 });
  expect(SERVER_LIMITS.connectionsCheckingIntervalSeconds).toBe(0.5);
  const limits = { requestTimeoutSeconds: undefined, timeoutSeconds: 0.0065 };
  expect(createPetStoreServer(store, { limits })).toMatchObject({ ...times, timeout: 7 });
});
