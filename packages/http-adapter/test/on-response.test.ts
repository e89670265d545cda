import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { PetStore } from "@petstore/core";
import { operations } from "@petstore/core/facts";
import type { RequestSignal } from "@petstore/core/internal";
import { createFetchHandler, createNodeHandler } from "@petstore/http-adapter";
import { createPetStoreServer, type ResponseReport } from "@petstore/http-adapter";
import { describe, expect, test } from "vitest";
import { collect as collectSignals } from "../../core/test/support/open-store.js";
import { compose, issue, makeStore, PET, serve, serveHandler } from "./support/serve.js";
import { mountedOn, slowToAdmit, start, type Call } from "./support/serve.js";
import type { HttpOptions } from "../src/options.js";

type Facts = Pick<RequestSignal, "operation" | "method" | "status" | "code">;

const facts = (
  operation: Facts["operation"],
  method: string,
  status: number,
  code?: Facts["code"],
): Facts => ({ operation, method, status, code });

const CREATE: Call = { method: "POST", body: PET.replace("Rex", "hostile") };
const FIND: Call = { method: "HEAD", path: "/v1/pets/hostile" };

/** Requests, the facts that are reported of each, and whether it was admitted. No signal has the text "hostile". */
const REQUESTS: readonly (readonly [Call, Facts, isAdmitted: boolean])[] = [
  [{}, facts("listPets", "GET", 200), true],
  [CREATE, facts("createPet", "POST", 201), true],
  [FIND, facts("getPet", "HEAD", 404, "pet_not_found"), true],
  [{ path: "/v1/hostile" }, facts(undefined, "GET", 404, "not_found"), true],
  [{ method: "PROPFIND" }, facts(undefined, "_OTHER", 405, "method_not_allowed"), true],
  [{ key: "hostile" }, facts("listPets", "GET", 401, "invalid_api_key"), false],
  [{ path: "/hostile" }, facts(undefined, "GET", 404, "not_found"), false],
];

describe.each<[name: string, create: (store: PetStore, options: HttpOptions) => Server]>([
  ["createPetStoreServer", createPetStoreServer],
  [
    "createNodeHandler",
    (store, options) => createServer(createNodeHandler(store, { ...options, requestIds: true })),
  ],
  ["mount", (store, options) => mountedOn(createServer(), store, { ...options, requestIds: true })],
])("%s", (_, create) => {
  test("reports and publishes each response once, with every field", async () => {
    const { reports, onResponse } = collect();
    const signals = collectSignals("petstore:request");
    let now = 0;
    const options = { onResponse, clock: { now: () => (now += 5) } };
    const { store, call } = await start((of) => create(of, options));
    options.clock = { now: () => 0 };
    const [{ id } = { id: "" }] = (await store.keys.list())._unsafeUnwrap().keys;
    for (const [sent] of REQUESTS) {
      const { headers } = await call({ ...sent, headers: ["X-Request-Id: mine"] });
      expect(headers["x-request-id"]).toBe("mine");
    }
    const always = { milliseconds: 5, requestId: "mine" };
    expect(await reports(REQUESTS.length)).toEqual(
      REQUESTS.map(([, { operation, status, code }, isAdmitted]) => {
        return { ...always, operation, status, code, keyId: isAdmitted ? id : undefined };
      }),
    );
    await expect.poll(() => signals).toHaveLength(REQUESTS.length);
    expect(signals).toEqual(
      REQUESTS.map(([, fact, isAdmitted]) => {
        const route = fact.operation && `/v1${operations[fact.operation].path}`;
        const plan = isAdmitted ? "free" : undefined;
        return { ...fact, route, plan, window: undefined, milliseconds: 5 };
      }),
    );
    expect(JSON.stringify(signals)).not.toMatch(/hostile|PROPFIND|127\.0\.0\.1|pet_live_/);
  });

  test("reports a request whose client has gone, without a status", async () => {
    const { reports, onResponse } = collect();
    const options = { onResponse, maxBodySeconds: 86_400 };
    const { store, key, dial } = await start((of) => create(of, options));
    const wire = await dial(compose({ method: "POST", key, body: PET }) + PET.slice(0, 5));
    const remaining = async () => (await store.as(key).admit())._unsafeUnwrap().quota.remaining;
    await expect.poll(remaining).toBeLessThan(59);
    wire.socket.resetAndDestroy();
    expect(await reports(1)).toMatchObject([{ operation: "createPet", status: undefined }]);
  });
});

test("reports a request whose client has gone before its body is read", async () => {
  const { reports, onResponse } = collect();
  const store = { storage: slowToAdmit(50) };
  const { server, dial, key } = await serve({ onResponse, maxBodySeconds: 86_400, store });
  const asked = once(server, "request");
  const wire = await dial(compose({ method: "POST", key, body: PET }));
  await asked;
  wire.socket.resetAndDestroy();
  expect(await reports(1)).toMatchObject([{ operation: "createPet", status: undefined }]);
});

test("a server of ours also reports unreadable messages and the responses of its fallback", async () => {
  const { reports, onResponse } = collect();
  const signals = collectSignals("petstore:request");
  const { dial, call } = await serve({
    onResponse,
    fallback: ({ url }, response, next) => {
      response.setHeader("Content-Encoding", "gzip");
      response.setHeader("Set-Cookie", "a=b");
      if (url === "/boom") throw new Error("a bug");
      if (url === "/docs") response.writeHead(203).end();
      if (url !== "/gone") return;
      next();
      next();
      throw new Error("a bug behind next");
    },
  });
  const { headers } = await call({ path: "/docs" });
  const failed = await call({ path: "/boom" });
  expect(failed.headers).not.toHaveProperty("content-encoding");
  expect(failed.headers).not.toHaveProperty("set-cookie");
  expect((await call({ path: "/gone" })).status).toBe(404);
  const broken = `${compose({ path: "/", headers: ["Transfer-Encoding: chunked"] })}zz\r\n`;
  await (await dial(broken)).rest();
  const refused = await (await dial("hostile\r\n\r\n")).response();
  const unnamed = { operation: undefined, keyId: undefined };
  expect(await reports(5)).toMatchObject([
    { ...unnamed, status: 203, code: undefined, requestId: headers["x-request-id"] },
    { ...unnamed, status: 500, code: "internal_error", requestId: failed.headers["x-request-id"] },
    { ...unnamed, status: 404, code: "not_found" },
    { ...unnamed, status: 400, code: "bad_request" },
    { ...unnamed, status: 400, code: "bad_request", requestId: refused.headers["x-request-id"] },
  ]);
  await (await dial("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")).rest();
  await expect.poll(() => signals).toHaveLength(6);
  expect(signals.slice(3).map(({ method }) => method)).toEqual(["GET", "_OTHER", "CONNECT"]);
  expect(signals[4]).toMatchObject(facts(undefined, "_OTHER", 400, "bad_request"));
});

test.each([
  ["minute", { perMinute: 1, perDay: 9 }, [0]],
  ["day", { perMinute: 9, perDay: 1 }, [0]],
  ["day", { perMinute: 2, perDay: 2 }, [86_400_000 - 60_000, 0]],
] as const)("the fetch handler reports a refusal, and its %s", async (window, limits, waits) => {
  const { reports, onResponse } = collect();
  const signals = collectSignals("petstore:request");
  const { store, clock } = await makeStore();
  const event = new Promise((resolve) => store.events.on("rate_limit_exceeded", resolve));
  const authorization = `Bearer ${await issue(store, limits)}`;
  const handle = createFetchHandler(store, { basePath: "/api", onResponse, requestIds: true });
  const request = new Request("http://pets.test/api/pets", { headers: { authorization } });
  for (const wait of waits) {
    await handle(new Request(request, { method: "Patch" }));
    clock.advance(wait);
  }
  const { headers } = await handle(request);
  const { method, ...refusal } = facts("listPets", "GET", 429, "rate_limit_exceeded");
  const requestId = headers.get("x-request-id");
  const count = waits.length + 1;
  expect((await reports(count)).at(-1)).toMatchObject({ ...refusal, requestId });
  const known = { method, route: "/api/pets", plan: "enterprise", window };
  const others = waits.map(() => ({ method: "_OTHER" }));
  await expect.poll(() => signals).toMatchObject([...others, { ...refusal, ...known }]);
  expect(await event).toMatchObject({ window });
});

test("an error of onResponse, at once or later, goes to onError and does not change the response", async () => {
  const bug = new Error("no log");
  const fail = (): never => {
    throw bug;
  };
  for (const onResponse of [fail, () => Promise.reject(bug) as unknown as undefined]) {
    const { call, causes } = await serve({ onResponse });
    expect((await call()).status).toBe(200);
    await expect.poll(() => causes).toEqual([bug]);
  }
});

test("X-Request-Id is the client's on each response where it is safe to repeat, otherwise a fresh one; a host has to ask for it", async () => {
  const { call } = await serve({ fallback: (_, response) => response.end() });
  const idFor = async (sent: string, path: string) =>
    (await call({ path, headers: [`X-Request-Id: ${sent}`] })).headers["x-request-id"];
  for (const path of ["/v1/pets", "/v1/x", "/docs"])
    for (const id of ["trace-1.2:3/+=", "olive_7", "x".repeat(128)])
      expect(await idFor(id, path)).toBe(id);
  const keys = ["apet_live_abc", "PET_LIVE_ABC", "live_abc"];
  for (const sent of ["x".repeat(129), "a b", "<script>", ...keys, "ü", "a\r\nX-Request-Id: b"])
    expect(await idFor(sent, "/v1/pets"), sent).toMatch(/^[\da-f-]{36}$/);
  expect(await idFor("", "/docs")).not.toBe(await idFor("", "/docs"));
  const host = await serveHandler((handle) => handle);
  expect((await host.call()).headers).not.toHaveProperty("x-request-id");
});

function collect() {
  const seen: ResponseReport[] = [];
  return {
    onResponse: (report: ResponseReport) => void seen.push(report),
    reports: async (count: number): Promise<readonly ResponseReport[]> => {
      await expect.poll(() => seen.length).toBe(count);
      return seen;
    },
  };
}
