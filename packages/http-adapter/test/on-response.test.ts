import { createServer, type Server } from "node:http";
import { createManualClock, type PetStore } from "@petstore/core";
import {
  createFetchHandler,
  createNodeHandler,
  createPetStoreServer,
  mount,
  type HttpOptions,
  type ResponseReport,
} from "@petstore/http-adapter";
import { describe, expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { compose, listen, makeStore, serve } from "./support/serve.js";

describe.each<[name: string, start: (store: PetStore, options: HttpOptions) => Server]>([
  [
    "createPetStoreServer",
    (store, { onResponse, clock }) => createPetStoreServer(store, { onResponse, clock }),
  ],
  ["createNodeHandler", (store, options) => createServer(createNodeHandler(store, options))],
  [
    "mount",
    (store, options) => {
      const server = createServer();
      mount(server, store, options);
      return server;
    },
  ],
])("%s", (_, start) => {
  test("reports each response once, with every field", async () => {
    const { reports, onResponse } = collect();
    const { store, key } = await makeStore();
    const clock = {
      ...createManualClock(),
      now: (
        (now) => () =>
          (now += 5)
      )(0),
    };
    const server = start(store, { onResponse, clock, requestIds: true });
    const { call, create } = await listen(server, key);
    const [{ id: keyId } = { id: "" }] = (await store.keys.list())._unsafeUnwrap().keys;
    const sent = { headers: ["X-Request-Id: mine"] };
    expect((await call(sent)).headers["x-request-id"]).toBe("mine");
    const created = await create(PET);
    await call({ ...sent, path: "/v1/pets/7", method: "HEAD" });
    await call({ ...sent, path: "/v1/dogs" });
    await call({ ...sent, key: null });
    await call({ ...sent, path: "/" });
    const common = { keyId, milliseconds: 5, requestId: "mine", code: undefined };
    const unnamed = { operation: undefined, keyId: undefined };
    expect(await reports(6)).toEqual([
      { ...common, operation: "listPets", status: 200 },
      {
        ...common,
        operation: "createPet",
        status: 201,
        requestId: created.headers["x-request-id"],
      },
      { ...common, operation: "getPet", status: 404, code: "pet_not_found" },
      { ...common, operation: undefined, status: 404, code: "not_found" },
      { ...common, ...unnamed, operation: "listPets", status: 401, code: "missing_api_key" },
      { ...common, ...unnamed, status: 404, code: "not_found" },
    ]);
  });

  test("reports a request whose client has gone, without a status", async () => {
    const { reports, onResponse } = collect();
    const { store, key } = await makeStore();
    const { dial } = await listen(start(store, { onResponse }), key);
    const wire = await dial();
    wire.send(compose({ method: "POST", key, body: PET }) + "{");
    wire.send(PET.slice(1, 5));
    await expect
      .poll(() =>
        store
          .as(key)
          .admit()
          .then((a) => a._unsafeUnwrap().quota.remaining),
      )
      .toBeLessThan(59);
    wire.socket.resetAndDestroy();
    const [report] = await reports(1);
    expect(report).toMatchObject({ operation: "createPet", status: undefined });
  });
});

test("a server of ours also reports unreadable messages and the responses of its fallback", async () => {
  const { reports, onResponse } = collect();
  const { dial, call } = await serve({
    onResponse,
    fallback: (_, response) => response.writeHead(203).end(),
  });
  const { headers } = await call({ path: "/docs" });
  const wire = await dial();
  wire.send("nonsense\r\n\r\n");
  const refused = await wire.response();
  const unnamed = { operation: undefined, keyId: undefined };
  expect(await reports(2)).toMatchObject([
    { ...unnamed, status: 203, code: undefined, requestId: headers["x-request-id"] },
    { ...unnamed, status: 400, code: "bad_request", requestId: refused.headers["x-request-id"] },
  ]);
});

test("the fetch handler reports, too", async () => {
  const { reports, onResponse } = collect();
  const { store } = await makeStore();
  const handle = createFetchHandler(store, { onResponse, requestIds: true });
  const { headers } = await handle(new Request("http://a/v1/pets"));
  expect(await reports(1)).toMatchObject([
    { operation: "listPets", status: 401, requestId: headers.get("x-request-id") },
  ]);
});

test("an error of onResponse, at once or later, goes to onError and does not change the response", async () => {
  const causes: unknown[] = [];
  const bug = new Error("no log");
  const onError = (cause: unknown): void => void causes.push(cause);
  const throwing = await serve({ onError, onResponse: () => fail(bug) });
  expect((await throwing.call()).status).toBe(200);
  const rejecting = await serve({
    onError,
    onResponse: () => Promise.reject(bug) as unknown as undefined,
  });
  expect((await rejecting.call()).status).toBe(200);
  await expect.poll(() => causes).toEqual([bug, bug]);
});

describe("X-Request-Id", () => {
  test.each([
    "x".repeat(129),
    "a b",
    "<script>",
    "pet_live_abc",
    "PET_LIVE_ABC",
    "live_abc",
    "ü",
    "apet_live_",
    "a\r\nX-Request-Id: b",
  ])("is a fresh one where the client's is %j", async (sent) => {
    const { call } = await serve();
    const { headers } = await call({ headers: [`X-Request-Id: ${sent}`] });
    expect(headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
  });

  test("is the client's where it is safe to repeat, on each response", async () => {
    const { call } = await serve({ fallback: (_, response) => response.end() });
    for (const path of ["/v1/pets", "/v1/x", "/docs"]) {
      const { headers } = await call({ path, headers: ["X-Request-Id: trace-1.2:3/+="] });
      expect(headers["x-request-id"]).toBe("trace-1.2:3/+=");
    }
  });

  test("is not on a host's responses unless requestIds is set", async () => {
    const { store, key } = await makeStore();
    const { call } = await listen(createServer(createNodeHandler(store)), key);
    expect((await call()).headers).not.toHaveProperty("x-request-id");
  });
});

function fail(bug: Error): never {
  throw bug;
}

function collect() {
  const seen: ResponseReport[] = [];
  return {
    onResponse: (report: ResponseReport) => void seen.push(report),
    reports: async (count: number) => {
      await expect.poll(() => seen.length).toBe(count);
      return seen;
    },
  };
}
