import { setImmediate } from "node:timers/promises";
import { err, type Result, type ResultAsync } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  createManualClock,
  createMemoryStorage,
  storageFailure,
  type KeyRing,
  type StorageFailure,
} from "@petstore/core";
import { error, openStore, storageWith, value, type StorageParts } from "./support/open-store.js";

const rex = { name: "Rex", categoryId: 1n };
const full = new Error("disk full");
const failure = storageFailure("disk full");

/** Ways in which a storage fails; the last two break the port's contract. */
const ways: readonly [string, unknown, () => Promise<Result<never, StorageFailure>>][] = [
  ["returns a failure", failure, () => Promise.resolve(err(failure))],
  [
    "throws",
    full,
    () => {
      throw full;
    },
  ],
  ["rejects", full, () => Promise.reject(full)],
];

describe.each(ways)("a storage that %s", (_, cause, fail) => {
  const code = "storage_unavailable";

  it("fails every call with storage_unavailable and the caller's remaining quota, until it works again", async () => {
    const { pets } = createMemoryStorage();
    let isBroken = true;
    const list: typeof pets.list = (query) => (isBroken ? fail() : pets.list(query));
    const storage = storageWith({ pets: { create: fail, createOnce: fail, find: fail, list } });
    const { caller } = await openStore({ storage }).issue();
    expect([
      error(await caller.listPets()),
      error(await caller.createPet(rex)),
      error(await caller.getPet(1n)),
      error(await caller.createPet(rex, { idempotencyKey: "a" })),
    ]).toMatchObject(
      [59, 58, 57, 56].map((remaining) => ({
        ...{ code, cause, quota: { remaining } },
        message: "The storage is unavailable; nothing was done. Try again shortly.",
      })),
    );
    isBroken = false;
    expect(value(await caller.listPets()).pets).toEqual([]);
  });

  it("fails a read whose charge takes longer than the read", async () => {
    const inner = createMemoryStorage();
    const charge: typeof inner.usage.charge = async (digest, decide) => {
      const charged = await inner.usage.charge(digest, decide);
      await setImmediate();
      return charged;
    };
    const pets = { find: fail, list: fail };
    const { caller } = await openStore({
      storage: storageWith({ usage: { charge }, pets }, inner),
    }).issue();
    expect(error(await caller.listPets())).toMatchObject({ code, cause });
    expect(error(await caller.getPet(1n))).toMatchObject({ code, cause });
  });

  it("admits no request: limits fail closed", async () => {
    const storage = storageWith({ usage: { charge: fail, findByDigest: fail } });
    const { store, issue } = openStore({ storage, plans: { free: { perMinute: 1, perDay: 1 } } });
    const { caller } = await issue();
    const quota = { limit: 1 };
    expect(error(await caller.createPet(rex))).toMatchObject({ code, quota });
    const keyless = error(await store.as(undefined).createPet(rex));
    expect(keyless).toMatchObject({ code: "missing_api_key", quota });
    expect(error(await caller.createPet(rex))).toMatchObject({ code, quota });
    expect(value(await store.trusted.listPets()).pets).toEqual([]);
  });

  it("fails managing keys", async () => {
    const inner = createMemoryStorage();
    const clock = createManualClock();
    const issued = openStore({ storage: inner, clock });
    const { id, secret } = await issued.issue({ plan: "free", expiresAt: clock.now() + 1 });
    clock.advance(2);
    const purge = (keys: KeyRing) => keys.purge({ olderThanSeconds: 0 });
    const rows: readonly [StorageParts, (keys: KeyRing) => ResultAsync<unknown, object>][] = [
      [{ keys: { insert: fail } }, (keys) => keys.issue({ plan: "free" })],
      [{ keys: { list: fail } }, (keys) => keys.list()],
      [{ keys: { list: fail } }, purge],
      [{ keys: { remove: fail } }, purge],
      [{ keys: { find: fail } }, (keys) => keys.revoke(id)],
      [{ keys: { update: fail } }, (keys) => keys.revoke(id)],
      [{ usage: { update: fail } }, (keys) => keys.liftBan(id)],
      [{ usage: { findByDigest: fail } }, (keys) => keys.findBySecret(secret)],
    ];
    for (const [parts, call] of rows) {
      const { store } = openStore({ storage: storageWith(parts, inner), clock });
      expect(error(await call(store.keys))).toMatchObject({ code, cause });
    }
  });

  it("does not matter where the storage is not needed", async () => {
    const parts = { keys: { find: fail, remove: fail }, usage: { findByDigest: fail } };
    const { keys } = openStore({ storage: storageWith(parts) }).store;
    expect(error(await keys.find({} as never)).code).toBe("key_not_found");
    expect(error(await keys.findBySecret("pet_live_")).code).toBe("key_not_found");
    expect(value(await keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged: 0 });
  });

  it("returns a typed error when closing fails", async () => {
    const { store } = openStore({ storage: storageWith({ close: fail }) });
    expect(error(await store.close()).code).toBe(code);
  });
});

it("a key that another process removes meanwhile is not found, and nothing is stored", async () => {
  const { keys, usage, ...inner } = createMemoryStorage();
  const parts: StorageParts = {
    keys: { update: (_, decide) => keys.update("gone", decide) },
    usage: { update: (_, decide) => usage.update("gone", decide) },
  };
  const storage = storageWith(parts, { ...inner, keys, usage });
  const { store, issue } = openStore({ storage });
  const { id } = await issue();
  expect(error(await store.keys.revoke(id)).code).toBe("key_not_found");
  expect(error(await store.keys.liftBan(id)).code).toBe("key_not_found");
});
