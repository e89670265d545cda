import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer } from "node:http";
import type { RequestSignal } from "@petstore/core";
import { createFetchHandler, createPetStoreServer, mount } from "@petstore/http-adapter";
import { describe, expect, onTestFinished, test } from "vitest";
import { issue, listen, makeStore, serve, type Call } from "./support/serve.js";

/** Collects the signals of requests until the test ends. Resolves to them once there are `count`. */
function collect(): (count: number) => Promise<readonly RequestSignal[]> {
  const signals: RequestSignal[] = [];
  const listener = (signal: unknown) => void signals.push(signal as RequestSignal);
  subscribe("petstore:request", listener);
  onTestFinished(() => void unsubscribe("petstore:request", listener));
  return async (count) => {
    await expect.poll(() => signals.length).toBe(count);
    return signals;
  };
}

const list = { operation: "listPets", route: "/v1/pets", method: "GET" } as const;
const get = { operation: "getPet", route: "/v1/pets/{petId}", method: "GET" } as const;
const none = { operation: undefined, route: undefined, method: "GET" } as const;
const noKey = { plan: undefined, window: undefined };
const free = { plan: "free", window: undefined };

/** Requests whose text must not be in any signal, and the signal of each. */
const REQUESTS: readonly (readonly [Call, Omit<RequestSignal, "milliseconds">])[] = [
  [{ path: "/v1/pets?status=hostile" }, { ...list, ...free, status: 400, code: "invalid_query" }],
  [
    { method: "POST", body: '{"name":"hostile","categoryId":1}' },
    { ...list, operation: "createPet", method: "POST", ...free, status: 201, code: undefined },
  ],
  [{ path: "/v1/pets/hostile" }, { ...get, ...free, status: 404, code: "pet_not_found" }],
  [{ path: "/v1/hostile" }, { ...none, ...free, status: 404, code: "not_found" }],
  [
    { method: "PROPFIND" },
    { ...none, method: "_OTHER", ...free, status: 405, code: "method_not_allowed" },
  ],
  [{ key: "hostile" }, { ...list, ...noKey, status: 401, code: "invalid_api_key" }],
];

describe.each(["createPetStoreServer", "mount"])("%s", (transport) => {
  test("publishes each request once, without anything that its client chose", async () => {
    const signals = collect();
    const { store, key } = await makeStore();
    const server = transport === "mount" ? createServer() : createPetStoreServer(store);
    if (transport === "mount") mount(server, store);
    const { call } = await listen(server, key);
    for (const [request] of REQUESTS) await call(request);
    const published = await signals(REQUESTS.length);
    const milliseconds = expect.any(Number) as number;
    expect(published).toEqual(REQUESTS.map(([, signal]) => ({ ...signal, milliseconds })));
    expect(JSON.stringify(published)).not.toMatch(/hostile|PROPFIND|127\.0\.0\.1|pet_live_/);
  });
});

test.each([
  ["minute", { perMinute: 1, perDay: 9 }],
  ["day", { perMinute: 9, perDay: 1 }],
] as const)("a refusal names the window: %s", async (window, limits) => {
  const signals = collect();
  const { store } = await makeStore();
  const headers = { authorization: `Bearer ${await issue(store, limits)}` };
  const handle = createFetchHandler(store, { basePath: "/api" });
  for (let count = 0; count < 2; count += 1) {
    await handle(new Request("http://pets.test/api/pets", { headers }));
  }
  const refusal = { status: 429, code: "rate_limit_exceeded", plan: "enterprise", window };
  const route = { ...list, route: "/api/pets" };
  expect((await signals(2))[1]).toMatchObject({ ...route, ...refusal });
});

test("a server of ours also publishes what is no request", async () => {
  const signals = collect();
  const { dial } = await serve();
  const wire = await dial();
  wire.send("hostile\r\n\r\n");
  await wire.rest();
  const [signal] = await signals(1);
  expect(signal).toMatchObject({ ...none, method: "_OTHER", status: 400, code: "bad_request" });
});
