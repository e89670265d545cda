import { describe, expect, it } from "vitest";
import { createMemoryStorage, createPetStore, INT64_MAX, INT64_MIN } from "@petstore/core";
import { error, value } from "./support/open-store.js";

const { trusted } = createPetStore();

describe("getPet", () => {
  it.each([1n, 1, "1"])("finds the pet by its id given as %o", async (id) => {
    const { pet } = value(await trusted.createPet({ name: "Rex", categoryId: 7n }));
    expect(pet.id).toBeGreaterThanOrEqual(1n);
    const found = value(await trusted.getPet(id)).pet;
    expect(found.id).toBe(1n);
    expect([pet, found].every(Object.isFrozen)).toBe(true);
  });

  it.each([0n, INT64_MIN, INT64_MAX])("returns pet_not_found for %o", async (id) => {
    expect(error(await trusted.getPet(id)).code).toBe("pet_not_found");
  });

  it.each([INT64_MAX + 1n, 2 ** 53, 1.5, Number.NaN, "01", "x", ""])(
    "returns pet_not_found for %o, which no pet can have as its id",
    async (id) => {
      const { pets, ...rest } = createMemoryStorage();
      const find = () => expect.fail("looked up");
      const store = createPetStore({ storage: { ...rest, pets: { ...pets, find } } });
      expect(error(await store.trusted.getPet(id)).code).toBe("pet_not_found");
    },
  );
});
