import { createServer } from "node:http";
import { createNodeHandler, createPetStoreServer, SERVER_LIMITS } from "@petstore/http-adapter";
import { createPetStore } from "@petstore/core";
import { expect, test } from "vitest";
import { compose, listen, makeStore, serve } from "./support/serve.js";

const limits = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 };
const timedOut = [408, "request_timeout", "close"];

test.each<[what: string, bytes: string]>([
  ["nothing at all", ""],
  ["half a request line", "GET /v1/p"],
  ["half a header section", "GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-"],
])("a client that sends %s is told 408 by the server, and cut", async (_, bytes) => {
  const { dial } = await serve({ limits });
  const wire = await dial();
  if (bytes !== "") wire.send(bytes);
  expect(outcomeOf(await wire.response())).toEqual(timedOut);
  expect(await wire.rest()).toBe("");
});

test.each(["Content-Length: 100", "Transfer-Encoding: chunked", "Content-Length: 65537"])(
  "half a body (%s) ends by the server's timeout, or was refused before",
  async (framing) => {
    const { dial, key } = await serve({ limits });
    const wire = await dial();
    wire.send(compose({ method: "POST", key, headers: [framing] }) + "5\r\n{");
    const { status, headers } = await wire.response();
    expect([status, headers["connection"]]).toEqual([
      framing.includes("65537") ? 413 : 408,
      "close",
    ]);
    expect(headers["x-ratelimit-remaining"]).toBe("59");
    expect(await wire.rest()).toBe("");
  },
);

test("on a host's own server a slow body ends by maxBodySeconds", async () => {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store, { maxBodySeconds: 0.05 });
  const { dial } = await listen(createServer(handle), key);
  const wire = await dial();
  wire.send(compose({ method: "POST", key, headers: ["Content-Length: 100"] }) + '{"name":');
  expect(outcomeOf(await wire.response())).toEqual(timedOut);
  expect(await wire.rest()).toBe("");
});

test("bytes that complete a request after its 408 are not a request", async () => {
  const { dial, key, store } = await serve({ limits });
  const wire = await dial();
  const pet = '{"name":"Rex","categoryId":1}';
  wire.send(compose({ method: "POST", key, body: pet }).slice(0, -2));
  expect(outcomeOf(await wire.response())).toEqual(timedOut);
  wire.send(`\r\n${pet}`);
  expect(await wire.rest()).toBe("");
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
});

test("a client that closes its side after its request still gets a response, also a late one", async () => {
  const { dial, key } = await serve({
    fallback: ({ socket }, response) => {
      socket.once("end", () => setImmediate(() => response.end("late")));
    },
  });
  for (const [path, body] of [
    ["/v1/pets", "[]"],
    ["/late", "late"],
  ] as const) {
    const wire = await dial();
    wire.socket.end(compose({ path, key }));
    expect(await wire.response()).toMatchObject({ status: 200, body });
    expect(await wire.rest()).toBe("");
  }
});

test("a silent connection is closed, also when CONNECT waits for a response that never comes", async () => {
  const { dial } = await serve({ limits: { timeout: 50 }, fallback: () => undefined });
  for (const more of ["", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"]) {
    const wire = await dial();
    wire.send(compose({ path: "/" }) + more);
    expect(await wire.rest()).toBe("");
  }
});

test("the default limits end every slow request within 15 s", () => {
  const server = createPetStoreServer(createPetStore());
  expect(server).toMatchObject(SERVER_LIMITS);
  expect(server.maxRequestsPerSocket).toBe(0);
  const { requestTimeout, connectionsCheckingInterval } = SERVER_LIMITS;
  expect(requestTimeout + connectionsCheckingInterval + 2_000).toBeLessThan(15_000);
  server.close();
});

function outcomeOf(response: {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}): unknown[] {
  const { code } = JSON.parse(response.body) as { readonly code: string };
  return [response.status, code, response.headers["connection"]];
}
