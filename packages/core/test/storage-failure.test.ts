import { errAsync, ResultAsync } from "neverthrow";
import { describe, expect, it } from "vitest";
import { createMemoryStorage, storageFailure, type Storage } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

/** Ways in which a storage fails: two of them break the port's promise. */
const ways: readonly [string, () => ResultAsync<never, ReturnType<typeof storageFailure>>][] = [
  ["answers a failure", () => errAsync(storageFailure("disk full"))],
  [
    "throws",
    () => {
      throw new Error("disk full");
    },
  ],
  ["rejects", () => new ResultAsync(Promise.reject(new Error("disk full")))],
];

describe.each(ways)("a storage that %s", (_, fail) => {
  it("is storage_unavailable in every call, with what is left to the caller", async () => {
    const inner = createMemoryStorage();
    let broken = false;
    const storage: Storage = {
      ...inner,
      pets: {
        create: (pet) => (broken ? fail() : inner.pets.create(pet)),
        createAll: (pets) => (broken ? fail() : inner.pets.createAll(pets)),
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
    ];
    expect(refusals.map(({ code, quota }) => [code, quota.remaining])).toEqual([
      ["storage_unavailable", 59],
      ["storage_unavailable", 58],
      ["storage_unavailable", 57],
    ]);
    broken = false;
    expect(value(await caller.listPets()).pets).toEqual([]);
  });

  it("admits nobody: limits fail closed", async () => {
    const inner = createMemoryStorage();
    const storage: Storage = { ...inner, usage: { charge: () => fail(), update: () => fail() } };
    const { store, issue } = openStore({ storage });
    const { secret } = await issue();
    const refusal = error(await store.as(secret).createPet({ name: "Rex", categoryId: 1n }));
    expect(refusal).toMatchObject({ code: "storage_unavailable", quota: { limit: 60 } });
    expect(value(await store.trusted.listPets()).pets).toEqual([]);
  });

  it("fails managing keys with storage_unavailable", async () => {
    const inner = createMemoryStorage();
    const storage: Storage = {
      ...inner,
      keys: { insert: () => fail(), find: () => fail(), list: () => fail(), update: () => fail() },
    };
    const { keys } = openStore({ storage }).store;
    const results = [await keys.issue({ plan: "free" }), await keys.list(), await keys.revoke("x")];
    expect(results.map((result) => error<unknown, { code: string }>(result).code)).toEqual(
      Array(3).fill("storage_unavailable"),
    );
  });

  it("answers a typed error when closing fails", async () => {
    const storage: Storage = { ...createMemoryStorage(), close: () => fail() };
    const { store } = openStore({ storage });
    expect(error(await store.close()).code).toBe("storage_unavailable");
  });
});
