import { describe, expect, it } from "vitest";
import {
  createMemoryStorage,
  createPetStore,
  INT64_MAX,
  storageFailure,
  type PetStoreEvent,
} from "@petstore/core";
import { errAsync } from "neverthrow";
import { error, value } from "./support/open-store.js";

const rex = { name: "Rex", categoryId: 7n } as const;

describe("createPets", () => {
  it("adds all pets, in order, and answers each whole", async () => {
    const { trusted } = createPetStore();
    const inputs = [rex, { name: "Ada", categoryId: INT64_MAX, status: "sold" }, rex] as const;
    const { pets } = value(await trusted.createPets(inputs));
    expect(pets.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
    expect(pets[1]).toEqual({ id: 2n, name: "Ada", categoryId: INT64_MAX, status: "sold" });
    expect(value(await trusted.listPets()).pets).toEqual(pets);
  });

  it("adds none when one is invalid, and names each invalid one by its index", async () => {
    const { trusted } = createPetStore();
    const inputs = [rex, { name: 5 }, rex, { ...rex, status: "lost" }];
    const refused = error(await trusted.createPets(inputs as never));
    expect(refused).toMatchObject({
      code: "invalid_pets",
      message: expect.stringContaining("2 of 4 pets are invalid; number 1: name") as string,
      problems: [
        { index: 1, message: expect.stringMatching(/name.*categoryId/) as string },
        { index: 3, message: expect.stringContaining("status") as string },
      ],
    });
    expect(value(await trusted.listPets()).pets).toEqual([]);
  });

  it("takes none, and a thousand, but not more", async () => {
    const { trusted } = createPetStore();
    expect(value(await trusted.createPets([])).pets).toEqual([]);
    const thousand = Array.from({ length: 1_000 }, () => rex);
    expect(value(await trusted.createPets(thousand)).pets).toHaveLength(1_000);
    const refused = error(await trusted.createPets([...thousand, rex]));
    expect(refused).toMatchObject({ code: "invalid_pets", problems: [] });
  });

  it.each([undefined, null, "pets", { length: 1 }])("refuses %j as pets", async (inputs) => {
    const refused = error(await createPetStore().trusted.createPets(inputs as never));
    expect(refused.code).toBe("invalid_pets");
  });

  it("tells the host of each pet", async () => {
    const store = createPetStore();
    const told: PetStoreEvent[] = [];
    store.events.on("pet_created", (event) => told.push(event));
    const { pets } = value(await store.trusted.createPets([rex, rex]));
    await expect.poll(() => told).toMatchObject(pets.map((pet) => ({ type: "pet_created", pet })));
  });

  it("answers storage_unavailable when the storage fails, and store_closed after closing", async () => {
    const memory = createMemoryStorage();
    const failing = { createAll: () => errAsync(storageFailure("full")) };
    const store = createPetStore({ storage: { ...memory, pets: { ...memory.pets, ...failing } } });
    expect(error(await store.trusted.createPets([rex])).code).toBe("storage_unavailable");
    await store.close();
    expect(error(await store.trusted.createPets([rex])).code).toBe("store_closed");
  });
});
