import { setImmediate } from "node:timers/promises";
import { err, type Result, type ResultAsync } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  createManualClock,
  createMemoryStorage,
  storageFailure,
  type KeyRing,
  type Storage,
  type StorageFailure,
} from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

const full = new Error("disk full");

/** Ways in which a storage fails; the last two break the port's contract. */
const ways: readonly [string, unknown, () => Promise<Result<never, StorageFailure>>][] = [
  [
    "returns a failure",
    storageFailure("disk full"),
    () => Promise.resolve(err(storageFailure("disk full"))),
  ],
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
  it("fails every call with storage_unavailable and the caller's remaining quota", async () => {
    const inner = createMemoryStorage();
    let broken = false;
    const storage: Storage = {
      ...inner,
      pets: {
        ...inner.pets,
        create: (pet) => (broken ? fail() : inner.pets.create(pet)),
        createOnce: () => fail(),
        find: (id) => (broken ? fail() : inner.pets.find(id)),
        list: (query) => (broken ? fail() : inner.pets.list(query)),
      },
    };
    const { store, issue } = openStore({ storage });
    const caller = store.as((await issue()).secret);
    broken = true;
    const refusals = [
      error(await caller.listPets()),
      error(await caller.createPet({ name: "Rex", categoryId: 1n })),
      error(await caller.getPet(1n)),
      error(await caller.createPet({ name: "Rex", categoryId: 1n }, { idempotencyKey: "a" })),
    ];
    expect(refusals.map(({ code, quota }) => [code, quota.remaining])).toEqual([
      ["storage_unavailable", 59],
      ["storage_unavailable", 58],
      ["storage_unavailable", 57],
      ["storage_unavailable", 56],
    ]);
    expect(refusals).toMatchObject(Array(4).fill({ cause }));
    broken = false;
    expect(value(await caller.listPets()).pets).toEqual([]);
  });

  it("fails a read whose charge takes longer than the read", async () => {
    const inner = createMemoryStorage();
    const storage: Storage = {
      ...inner,
      usage: {
        ...inner.usage,
        charge: async (digest, decide) => {
          const charged = await inner.usage.charge(digest, decide);
          await setImmediate();
          return charged;
        },
      },
      pets: { ...inner.pets, find: fail, list: fail },
    };
    const { store, issue } = openStore({ storage });
    const caller = store.as((await issue()).secret);
    const refusals = [error(await caller.listPets()), error(await caller.getPet(1n))];
    expect(refusals).toMatchObject(Array(2).fill({ code: "storage_unavailable", cause }));
  });

  it("admits no request: limits fail closed", async () => {
    const inner = createMemoryStorage();
    const usage = { ...inner.usage, charge: fail, findByDigest: fail };
    const plans = { free: { perMinute: 1, perDay: 1 } };
    const { store, issue } = openStore({ storage: { ...inner, usage }, plans });
    const { secret } = await issue();
    for (const code of ["storage_unavailable", "missing_api_key", "storage_unavailable"] as const) {
      const caller = store.as(code === "missing_api_key" ? undefined : secret);
      const refusal = error(await caller.createPet({ name: "Rex", categoryId: 1n }));
      expect(refusal).toMatchObject({ code, quota: { limit: 1 } });
    }
    expect(value(await store.trusted.listPets()).pets).toEqual([]);
  });

  it("fails managing keys with storage_unavailable", async () => {
    const inner = createMemoryStorage();
    const clock = createManualClock();
    const { issue } = openStore({ storage: inner, clock });
    const { id, secret } = await issue({ plan: "free", expiresAt: clock.now() + 1 });
    clock.advance(2);
    const purge = (keys: KeyRing) => keys.purge({ olderThanSeconds: 0 });
    const rows: readonly [object, object, (keys: KeyRing) => ResultAsync<unknown, object>][] = [
      [{ insert: fail }, {}, (keys) => keys.issue({ plan: "free" })],
      [{ list: fail }, {}, (keys) => keys.list()],
      [{ list: fail }, {}, purge],
      [{ remove: fail }, {}, purge],
      [{ find: fail }, {}, (keys) => keys.revoke(id)],
      [{ update: fail }, {}, (keys) => keys.revoke(id)],
      [{}, { update: fail }, (keys) => keys.liftBan(id)],
      [{}, { findByDigest: fail }, (keys) => keys.findBySecret(secret)],
    ];
    for (const [keys, usage, call] of rows) {
      const storage = {
        ...inner,
        keys: { ...inner.keys, ...keys },
        usage: { ...inner.usage, ...usage },
      };
      const { store } = openStore({ storage, clock });
      expect(error(await call(store.keys))).toMatchObject({ code: "storage_unavailable", cause });
    }
  });

  it("does not matter where the storage is not needed", async () => {
    const inner = createMemoryStorage();
    const keys = { ...inner.keys, find: fail, remove: fail };
    const storage: Storage = { ...inner, keys, usage: { ...inner.usage, findByDigest: fail } };
    const { store } = openStore({ storage });
    expect(error(await store.keys.find({} as never)).code).toBe("key_not_found");
    expect(error(await store.keys.findBySecret("pet_live_")).code).toBe("key_not_found");
    expect(value(await store.keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged: 0 });
  });

  it("returns a typed error when closing fails", async () => {
    const storage: Storage = { ...createMemoryStorage(), close: () => fail() };
    const { store } = openStore({ storage });
    expect(error(await store.close()).code).toBe("storage_unavailable");
  });
});

it("a key that another process removes meanwhile is not found, and nothing is stored", async () => {
  const inner = createMemoryStorage();
  const storage: Storage = {
    ...inner,
    keys: { ...inner.keys, update: (_, decide) => inner.keys.update("gone", decide) },
    usage: { ...inner.usage, update: (_, decide) => inner.usage.update("gone", decide) },
  };
  const { store, issue } = openStore({ storage });
  const { id } = await issue();
  expect(error(await store.keys.revoke(id)).code).toBe("key_not_found");
  expect(error(await store.keys.liftBan(id)).code).toBe("key_not_found");
});
