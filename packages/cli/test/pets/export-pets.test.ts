import { createPetStore, type PetStore } from "@petstore/core";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { exportPets } from "../../src/pets/export-pets.js";
import { ndjson } from "../../src/pets/ndjson.js";

async function filled(): Promise<PetStore> {
  const store = createPetStore();
  const pets = Array.from({ length: 250 }, () => ({ name: "Rex", categoryId: 1n }));
  (await store.trusted.createPets(pets))._unsafeUnwrap();
  return store;
}

const plan = { format: ndjson, status: undefined, onPage: () => undefined };

describe("an export", () => {
  it("ends with the first page that cannot be written", async () => {
    const { trusted } = await filled();
    let pages = 0;
    const write = () => {
      pages += 1;
      return Promise.resolve(pages === 2 ? err("the disk is full") : ok());
    };
    expect(await exportPets(trusted, { ...plan, write })).toEqual(err("the disk is full"));
    expect(pages).toBe(2);
  });

  it("fails with the store, whatever it has written before", async () => {
    const store = await filled();
    const write = async () => {
      await store.close();
      return ok();
    };
    const exported = await exportPets(store.trusted, { ...plan, write });
    expect(exported._unsafeUnwrapErr()).toContain("closed");
  });
});
