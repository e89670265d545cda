import { createServer } from "node:http";
import { createPetStore, type PetStore } from "@petstore/core";
import { clientAddressBehind, createPetStoreServer, mount } from "@petstore/http-adapter";
import { ResultAsync } from "neverthrow";
import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import {
  compose,
  failing,
  failure,
  listen,
  makeStore,
  serve,
  type Listening,
} from "./support/serve.js";
import type { HttpOptions } from "../src/options.js";

const bug = new Error("a bug with a /secret/path");
const fail = (): never => {
  throw bug;
};
const reject = () => new ResultAsync<never, never>(Promise.reject(bug));
const rejecting = (): never => ({ admit: reject, listPets: reject }) as never;

/** A mounted store, a part of which is broken. */
async function broken(part: Partial<PetStore>, options: HttpOptions): Promise<Listening> {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, { ...store, ...part }, options);
  return listen(server, key);
}

test.each<[what: string, start: (options: HttpOptions) => Promise<Listening>]>([
  ["engine that throws", (options) => broken({ as: fail }, options)],
  ["engine that rejects", (options) => broken({ as: rejecting }, options)],
  [
    "client address that cannot be found out",
    (options) => serve({ ...options, clientAddress: fail }),
  ],
])("an %s is 500 with all headers and without a charge, and a reported error", async (_, start) => {
  const causes: unknown[] = [];
  const { call } = await start({ onError: (cause) => causes.push(cause) });
  const { body, ...response } = await call();
  const headers = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "60" };
  expect(response).toMatchObject({ status: 500, headers });
  expect(JSON.parse(body)).toMatchObject({ code: "internal_error", status: 500 });
  expect(body).not.toContain("secret");
  expect(causes).toEqual([bug]);
});

test("a clock that throws changes no response, and is reported", async () => {
  const causes: unknown[] = [];
  const options = { clock: { now: fail }, onResponse: () => undefined };
  const { call } = await serve({ ...options, onError: (cause) => causes.push(cause) });
  expect((await call()).status).toBe(200);
  expect(causes).toContain(bug);
});

test("a store whose clock fails responds with 503 and all headers", async () => {
  let isBroken = false;
  const now = () => (isBroken ? fail() : 1_000);
  const store = createPetStore({ clock: { now } });
  const { secret } = (await store.keys.issue({ plan: "free" }))._unsafeUnwrap();
  const server = createPetStoreServer(store, { rateLimitFields: "draft-11" });
  const { call } = await listen(server, secret);
  isBroken = true;
  expect(await call()).toMatchObject({
    status: 503,
    headers: { "x-ratelimit-reset": "61", ratelimit: '"minute";r=60;t=60, "day";r=1000;t=86400' },
  });
});

test("an onError that throws or rejects changes no response, and ends nothing", async () => {
  const rejections: unknown[] = [];
  const note = (cause: unknown): void => void rejections.push(cause);
  process.on("unhandledRejection", note);
  for (const onError of [fail, () => Promise.reject(bug) as unknown as undefined]) {
    const { call } = await broken({ as: fail }, { onError });
    expect([(await call()).status, (await call()).status]).toEqual([500, 500]);
  }
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
});

test("when even the quota is unknown, the connection ends", async () => {
  const { store, key } = await makeStore();
  const causes: unknown[] = [];
  const quotaless = { ...store, as: fail, anonymousQuota: fail };
  const server = createPetStoreServer(quotaless, { onError: (cause) => causes.push(cause) });
  const { dial } = await listen(server, key);
  for (const bytes of [compose({}), "nonsense\r\n\r\n", compose({ path: "/" })]) {
    expect(await (await dial(bytes)).rest()).toBe("");
    expect(causes.splice(0)).not.toEqual([]);
  }
});

test.each([
  ["the inventory", "pets", 400],
  ["usage: limits fail closed", "usage", 503],
] as const)("a failure of %s is 503; only the host gets its cause", async (_, part, invalid) => {
  const causes: unknown[] = [];
  const { call, create } = await serve({
    store: { storage: failing(part) },
    onError: (cause) => causes.push(cause),
  });
  const found = [await call(), await call({ path: "/v1/pets/1" }), await create(PET)];
  for (const { body, ...response } of found) {
    const headers = { "retry-after": "1", "x-ratelimit-limit": "60" };
    expect(response).toMatchObject({ status: 503, headers });
    expect(JSON.parse(body)).toMatchObject({ code: "storage_unavailable", status: 503 });
    expect(body).not.toContain("SQLITE");
  }
  expect(causes).toEqual([failure, failure, failure]);
  // Validation comes before the inventory.
  expect((await create("{}")).status).toBe(invalid);
});

test.each([
  ["Forwarded: for=192.0.2.1", undefined, 1],
  ["X-Forwarded-For: 192.0.2.1", undefined, 1],
  ["X-Forwarded-For: 192.0.2.1", clientAddressBehind(["127.0.0.1"]), 0],
  ["Via: 1.1 proxy", undefined, 0],
])("%s, without an option for proxies, is reported once", async (line, clientAddress, count) => {
  const causes: unknown[] = [];
  const { call } = await serve({ clientAddress, onError: (cause) => causes.push(cause) });
  for (const key of [null, null, undefined])
    await call({ headers: [line], ...(key === null && { key }) });
  expect(causes.map(String)).toEqual(
    Array(count).fill(expect.stringContaining("which proxy to trust")),
  );
});
