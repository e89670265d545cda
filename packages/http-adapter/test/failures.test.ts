import { createServer } from "node:http";
import type { PetStore } from "@petstore/core";
import { clientAddressBehind, createPetStoreServer } from "@petstore/http-adapter";
import { ResultAsync } from "neverthrow";
import { expect, test } from "vitest";
import { compose, errorOf, failing, failure, PET, serve, start } from "./support/serve.js";
import { mountedOn } from "./support/serve.js";
import type { HttpOptions } from "../src/options.js";

const bug = new Error("a bug with a /secret/path");
const fail = (): never => {
  throw bug;
};
const reject = () => new ResultAsync<never, never>(Promise.reject(bug));
const rejecting = (): never => ({ admit: reject, listPets: reject }) as never;

const broken = (part: Partial<PetStore>, options: HttpOptions = {}) =>
  start((store, onError) =>
    mountedOn(createServer(), { ...store, ...part }, { onError, ...options }),
  );

test.each([
  ["engine that throws", () => broken({ as: fail })],
  ["engine that rejects", () => broken({ as: rejecting })],
  ["client address that cannot be found out", () => serve({ clientAddress: fail })],
])("an %s is 500 with all headers and without a charge, and a reported error", async (_, open) => {
  const { call, causes } = await open();
  const response = await call();
  const headers = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "60" };
  expect(response).toMatchObject({ ...errorOf(500, "internal_error"), headers });
  expect(response.body).not.toContain("secret");
  expect(causes).toEqual([bug]);
});

test("a clock that throws changes no response, and is reported", async () => {
  const { call, causes } = await serve({ clock: { now: fail }, onResponse: () => undefined });
  expect((await call()).status).toBe(200);
  expect(causes).toContain(bug);
});

test("a store whose clock fails responds with 503 and all headers", async () => {
  let isBroken = false;
  const now = () => (isBroken ? fail() : 1_000);
  const { call } = await serve({ store: { clock: { now } }, rateLimitFields: "draft-11" });
  isBroken = true;
  expect(await call()).toMatchObject({
    status: 503,
    headers: { "x-ratelimit-reset": "61", ratelimit: '"minute";r=60;t=60, "day";r=1000;t=86400' },
  });
});

test("an onError that throws or rejects changes no response, and ends nothing", async () => {
  // A rejection that nothing handles would make the run fail.
  for (const onError of [fail, () => Promise.reject(bug) as unknown as undefined]) {
    const { call } = await broken({ as: fail }, { onError });
    expect([(await call()).status, (await call()).status]).toEqual([500, 500]);
  }
});

test("when even the quota is unknown, the connection ends", async () => {
  const { dial, causes } = await start((store, onError) =>
    createPetStoreServer({ ...store, as: fail, anonymousQuota: fail }, { onError }),
  );
  for (const bytes of [compose({}), "nonsense\r\n\r\n", compose({ path: "/" })]) {
    expect(await (await dial(bytes)).rest()).toBe("");
    expect(causes.splice(0)).not.toEqual([]);
  }
});

test.each([
  ["the inventory", "pets", 400],
  ["usage: limits fail closed", "usage", 503],
] as const)("a failure of %s is 503; only the host gets its cause", async (_, part, invalid) => {
  const { call, create, causes } = await serve({ store: { storage: failing(part) } });
  const headers = { "retry-after": "1", "x-ratelimit-limit": "60" };
  for (const found of [await call(), await call({ path: "/v1/pets/1" }), await create(PET)]) {
    expect(found).toMatchObject({ ...errorOf(503, "storage_unavailable"), headers });
    expect(found.body).not.toContain("SQLITE");
  }
  expect(causes).toEqual([failure, failure, failure]);
  expect((await create("{}")).status).toBe(invalid);
});

test.each([
  ["Forwarded: for=192.0.2.1", undefined, 1],
  ["X-Forwarded-For: 192.0.2.1", undefined, 1],
  ["X-Forwarded-For: 192.0.2.1", clientAddressBehind(["127.0.0.1"]), 0],
  ["Via: 1.1 proxy", undefined, 0],
])("%s, without an option for proxies, is reported once", async (line, clientAddress, count) => {
  const { call, causes } = await serve({ clientAddress });
  for (const key of [null, null, undefined])
    await call({ headers: [line], ...(key === null && { key }) });
  const cause: unknown = expect.stringMatching(/^.*which proxy to trust.*$/);
  expect(causes.map((each) => (each as Error).stack)).toEqual(Array(count).fill(cause));
});
