import { setImmediate } from "node:timers/promises";
import { err, ok, type Result, type ResultAsync } from "neverthrow";
import { describe, expect, it, vi } from "vitest";
import type { KeyRing } from "@petstore/core";
import { storageError, type Storage, type StorageError } from "@petstore/core/storage";
import { error, openStore, operations, rex, value } from "./support/open-store.js";

const full = new Error("disk full");
const failure = storageError("disk full");
const doubt = { ...failure, mayBeStored: true };
const NOTHING_DONE = "The storage is unavailable; nothing was done. Try again shortly.";
const MAY_BE_STORED = "The storage is unavailable, and the change may have been stored.";

const throwFull = () => {
  throw full;
};

const noResult: unknown = expect.any(TypeError);

/** Ways in which a storage fails, and the message of a change; the last three break the port's contract. */
const ways: readonly [string, unknown, string, () => Promise<Result<never, StorageError>>][] = [
  ["returns a failure", failure, NOTHING_DONE, () => Promise.resolve(err(failure))],
  ["may have stored a change", doubt, MAY_BE_STORED, () => Promise.resolve(err(doubt))],
  ["throws", full, MAY_BE_STORED, throwFull],
  ["rejects", full, MAY_BE_STORED, () => Promise.reject(full)],
  ["resolves to no result", noResult, MAY_BE_STORED, () => Promise.resolve(undefined as never)],
];

describe.each(ways)("a storage that %s", (_, cause, messageOfChange, fail) => {
  const code = "storage_unavailable";
  const read = { code, cause, message: NOTHING_DONE };
  const doubtful = { code, cause, message: MAY_BE_STORED, mayBeStored: true };
  const change = messageOfChange === MAY_BE_STORED ? doubtful : read;

  it("fails every call, with the caller's remaining quota, until it works again", async () => {
    const { storage, issue } = openStore();
    const { caller } = await issue();
    const members = { ...storage.pets };
    for (const member of Object.keys(members)) Object.assign(storage.pets, { [member]: fail });
    let remaining = 60;
    for (const [name, call] of Object.entries(operations))
      expect(error(await call(caller)), name).toMatchObject({
        ...(["listPets", "getPet"].includes(name) ? read : change),
        quota: { remaining: (remaining -= 1) },
      });
    expect(error(await caller.createPet(rex, { idempotencyKey: "a" }))).toMatchObject({
      ...change,
      quota: { remaining: (remaining -= 1) },
    });
    Object.assign(storage.pets, members);
    expect(value(await caller.listPets()).pets).toEqual([]);
  });

  it("fails a read whose charge takes longer than the read", async () => {
    const { storage, issue } = openStore();
    const charge = storage.usage.charge.bind(storage.usage);
    vi.spyOn(storage.usage, "charge").mockImplementation(async (...args) => {
      const charged = await charge(...args);
      await setImmediate();
      return charged;
    });
    Object.assign(storage.pets, { find: fail, list: fail });
    const { caller } = await issue();
    expect(error(await caller.listPets())).toMatchObject(read);
    expect(error(await caller.getPet(1n))).toMatchObject(read);
  });

  it("admits no request: limits fail closed", async () => {
    const { store, storage, issue } = openStore({ plans: { free: { perMinute: 1, perDay: 1 } } });
    Object.assign(storage.usage, { charge: fail, findByDigest: fail });
    const { caller } = await issue();
    const quota = { limit: 1 };
    expect(error(await caller.createPet(rex))).toMatchObject({ ...read, quota });
    const keyless = error(await store.as(undefined).createPet(rex));
    expect(keyless).toMatchObject({ code: "missing_api_key", quota });
    expect(error(await caller.createPet(rex))).toMatchObject({ ...read, quota });
    expect(value(await store.trusted.listPets()).pets).toEqual([]);
  });

  it("fails managing keys", async () => {
    const { storage, clock, issue } = openStore();
    const { id, secret } = await issue({ plan: "free", expiresAt: clock.now() + 1 });
    clock.advance(2);
    const purge = (keys: KeyRing) => keys.purge({ olderThanSeconds: 0 });
    const rows: readonly [object, (keys: KeyRing) => ResultAsync<unknown, object>, object][] = [
      [{ insert: fail }, (keys) => keys.issue({ plan: "free" }), change],
      [{ list: fail }, (keys) => keys.list(), read],
      [{ list: fail }, purge, read],
      [{ remove: fail }, purge, change],
      [{ find: fail }, (keys) => keys.revoke(id), read],
      [{ update: fail }, (keys) => keys.revoke(id), change],
      [{ update: fail }, (keys) => keys.liftBan(id), change],
      [{ findByDigest: fail }, (keys) => keys.findBySecret(secret), read],
    ];
    for (const [broken, call, expected] of rows) {
      const [keys, usage] = [storage.keys, storage.usage].map((port) => ({ ...port, ...broken }));
      const { store } = openStore({ storage: { ...storage, keys, usage } as Storage, clock });
      expect(error(await call(store.keys))).toMatchObject(expected);
    }
  });

  it("does not matter where the storage is not needed, and makes closing fail", async () => {
    const { store, storage } = openStore();
    Object.assign(storage.keys, { find: fail, remove: fail });
    Object.assign(storage.usage, { findByDigest: fail });
    Object.assign(storage, { close: fail });
    expect(error(await store.keys.find({} as never)).code).toBe("key_not_found");
    expect(error(await store.keys.findBySecret("pet_live_")).code).toBe("key_not_found");
    expect(value(await store.keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged: 0 });
    expect(error(await store.close()).code).toBe(code);
  });
});

it.each<[string, () => unknown]>([
  ["an Ok without a pet", () => ok(undefined)],
  ["an Err without a failure", () => err(undefined)],
  ["a pet whose id cannot be read", () => ok(Object.defineProperty({}, "id", { get: throwFull }))],
])("a creation and a rotation may be stored if the storage returns %s", async (_, broken) => {
  const { store, storage, issue } = openStore();
  const { id } = await issue();
  const call = () => Promise.resolve(broken());
  Object.assign(storage.pets, { create: call });
  Object.assign(storage.keys, { update: call });
  expect(error(await store.trusted.createPet(rex)).message).toBe(MAY_BE_STORED);
  expect(error(await store.keys.rotate(id)).message).toBe(MAY_BE_STORED);
});

it("a purge that fails after it has removed keys does not say that nothing was done", async () => {
  const { store, storage, clock, issue } = openStore();
  for (let key = 0; key < 101; key += 1) await issue({ plan: "free", expiresAt: clock.now() + 1 });
  clock.advance(2);
  const list = storage.keys.list.bind(storage.keys);
  vi.spyOn(storage.keys, "list").mockImplementationOnce(list).mockResolvedValueOnce(err(failure));
  expect(error(await store.keys.purge({ olderThanSeconds: 0 })).message).toBe(MAY_BE_STORED);
});

it("a key that another process removes meanwhile is not found, and nothing is stored", async () => {
  const { store, storage, issue } = openStore();
  const { id } = await issue();
  const { keys, usage } = storage;
  const [updateKey, updateUsage] = [keys.update.bind(keys), usage.update.bind(usage)];
  vi.spyOn(keys, "update").mockImplementation((_, decide) => updateKey("gone", decide));
  vi.spyOn(usage, "update").mockImplementation((_, decide) => updateUsage("gone", decide));
  expect(error(await store.keys.revoke(id)).code).toBe("key_not_found");
  expect(error(await store.keys.liftBan(id)).code).toBe("key_not_found");
});
