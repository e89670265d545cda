import { describe, expect, it, vi } from "vitest";
import { INT64_MAX, INT64_MIN } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

const NOT_FOUND = { code: "pet_not_found", message: "No pet has this id." };

describe("getPet", () => {
  it.each([1n, 1, "1"])("finds the pet by its id given as %o", async (id) => {
    const { trusted } = openStore().store;
    const { pet } = value(await trusted.createPet({ name: "Rex", categoryId: 7n }));
    const found = value(await trusted.getPet(id)).pet;
    expect([pet.id, found.id]).toEqual([1n, 1n]);
    expect([pet, found].every(Object.isFrozen)).toBe(true);
  });

  it.each([0n, INT64_MIN, INT64_MAX])("returns pet_not_found for %o", async (id) => {
    expect(error(await openStore().store.trusted.getPet(id))).toEqual(NOT_FOUND);
  });

  it.each([INT64_MAX + 1n, 2 ** 53, 1.5, Number.NaN, "01", "x", ""])(
    "returns pet_not_found for %o, which no pet can have as its id",
    async (id) => {
      const { store, storage } = openStore();
      const find = vi.spyOn(storage.pets, "find");
      expect(error(await store.trusted.getPet(id))).toEqual(NOT_FOUND);
      expect(find).not.toHaveBeenCalled();
    },
  );
});
