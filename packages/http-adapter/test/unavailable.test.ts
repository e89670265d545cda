import { createMemoryStorage, storageFailure, type Storage } from "@petstore/core";
import { err } from "neverthrow";
import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

const failure = storageFailure("disk full", new Error("SQLITE_FULL at /secret/path"));

test("a failing inventory is 503 with Retry-After; the cause reaches the host and no client", async () => {
  const causes: unknown[] = [];
  const { call } = await serve({
    store: { storage: failing("pets") },
    onError: (cause) => causes.push(cause),
  });
  for (const sent of [
    {},
    { path: "/v1/pets/1" },
    { method: "POST", body: '{"name":"a","categoryId":1}' },
  ]) {
    const { status, headers, body } = await call(sent);
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("1");
    expect(JSON.parse(body)).toMatchObject({ code: "storage_unavailable", status: 503 });
    expect(body).not.toContain("SQLITE");
    expect(headers["x-ratelimit-limit"]).toBe("60");
  }
  expect(causes).toEqual([failure, failure, failure]);
});

test("limits fail closed: when usage cannot be charged, nothing is served", async () => {
  const { call } = await serve({ store: { storage: failing("usage") } });
  const { status, headers } = await call();
  expect(status).toBe(503);
  expect(headers["x-ratelimit-limit"]).toBe("60");
});

test("validation comes before storage: a bad pet is 400 even if the storage fails", async () => {
  const { create } = await serve({ store: { storage: failing("pets") } });
  expect((await create("{}")).status).toBe(400);
});

test("a closed store is 503 store_closed with Retry-After", async () => {
  const { call, store } = await serve();
  await store.close();
  const { status, headers, body } = await call();
  expect([status, headers["retry-after"]]).toEqual([503, "1"]);
  expect(body).toContain('"store_closed"');
  expect(headers["x-ratelimit-limit"]).toBe("60");
});

test("a storage that throws is 503 too", async () => {
  const storage = createMemoryStorage();
  const list = (): never => {
    throw new Error("boom");
  };
  const { call } = await serve({
    store: { storage: { ...storage, pets: { ...storage.pets, list } } },
  });
  expect((await call()).status).toBe(503);
});

function failing(part: "pets" | "usage"): Storage {
  const storage = createMemoryStorage();
  const fail = () => Promise.resolve(err(failure));
  return part === "pets"
    ? { ...storage, pets: { create: fail, createOnce: fail, find: fail, list: fail } }
    : { ...storage, usage: { charge: fail, findByDigest: fail, update: fail } };
}
