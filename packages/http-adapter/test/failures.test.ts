import { createServer } from "node:http";
import type { PetStore } from "@petstore/core";
import { createPetStoreServer, mount, type HttpOptions } from "@petstore/http-adapter";
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

const bug = new Error("a bug with a /secret/path");
const fail = (): never => {
  throw bug;
};
const reject = () => new ResultAsync<never, never>(Promise.reject(bug));

/** A mounted store, a part of which is broken. */
async function broken(part: Partial<PetStore>, options: HttpOptions): Promise<Listening> {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, { ...store, ...part }, options);
  return listen(server, key);
}

test.each<[what: string, part: Partial<PetStore>]>([
  ["throws", { as: fail }],
  ["rejects", { as: (): never => ({ admit: reject, listPets: reject }) as never }],
])(
  "an engine that %s is 500 internal_error with all headers, and a reported error",
  async (_, part) => {
    const causes: unknown[] = [];
    const { call } = await broken(part, { onError: (cause) => causes.push(cause) });
    const { body, ...response } = await call();
    const headers = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "60" };
    expect(response).toMatchObject({ status: 500, headers });
    expect(JSON.parse(body)).toMatchObject({ code: "internal_error", status: 500 });
    expect(body).not.toContain("secret");
    expect(causes).toEqual([bug]);
  },
);

test("an origin that cannot be found out is a bug of the host: 500 without a charge", async () => {
  const causes: unknown[] = [];
  const { call, store } = await serve({ origin: fail, onError: (cause) => causes.push(cause) });
  const headers = { "x-ratelimit-remaining": "60" };
  expect(await call()).toMatchObject({ status: 500, headers });
  expect(causes).toEqual([bug]);
  expect(store.anonymousQuota().remaining).toBe(60);
});

test("an onError that throws or rejects changes no response, and ends nothing", async () => {
  const rejections: unknown[] = [];
  const note = (cause: unknown): void => void rejections.push(cause);
  process.on("unhandledRejection", note);
  for (const onError of [fail, () => Promise.reject(bug) as unknown as undefined]) {
    const { call } = await broken({ as: fail }, { onError });
    expect((await call()).status).toBe(500);
    expect((await call()).status).toBe(500);
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
    const wire = await dial();
    wire.send(bytes);
    expect(await wire.rest()).toBe("");
  }
  expect(causes.length).toBeGreaterThanOrEqual(3);
});

test("a failing inventory is 503 with Retry-After; the cause reaches the host and no client", async () => {
  const causes: unknown[] = [];
  const { call, create } = await serve({
    store: { storage: failing("pets") },
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
  // Validation comes before the storage.
  expect((await create("{}")).status).toBe(400);
});

test("limits fail closed: when usage cannot be charged, nothing is served", async () => {
  const { call } = await serve({ store: { storage: failing("usage") } });
  expect(await call()).toMatchObject({ status: 503, headers: { "x-ratelimit-limit": "60" } });
});

test("a closed store is 503 store_closed with Retry-After", async () => {
  const { call, store } = await serve();
  await store.close();
  const headers = { "retry-after": "1", "x-ratelimit-limit": "60" };
  const { body, ...response } = await call();
  expect(response).toMatchObject({ status: 503, headers });
  expect(body).toContain('"store_closed"');
});
