import type { Pet, PetPage, PetQuery, PetStorage } from "@petstore/core";
import { ok } from "neverthrow";
import type { BrokenStorages, Change } from "./memory-fixture.js";

/** Storages that break the requirements of `PetStorage`. */
export const brokenPets: BrokenStorages = {
  "gives each pet its own positive id, even when many are created at once": {
    "gives two pets the same id": withCreated((pet) => ({ ...pet, id: (pet.id + 1n) / 2n })),
    "resolves every call to the same pet": withPets((real) => {
      let first: ReturnType<typeof real.create> | undefined;
      return { create: (pet) => (first ??= real.create(pet)) };
    }),
  },
  "gives a pet a greater id than every pet before it": {
    "counts downwards": withCreated((pet) => ({ ...pet, id: 1_000n - pet.id })),
  },
  "keeps every int64 categoryId exact": {
    "converts it to a double": withPets((real) => ({
      create: (pet) =>
        real.create({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }),
    })),
  },
  "keeps every name exact": {
    "normalizes Unicode": withPets((real) => ({
      create: (pet) => real.create({ ...pet, name: pet.name.normalize("NFC") }),
    })),
    "cuts long names": withFound((pet) => ({ ...pet, name: pet.name.slice(0, 65_535) })),
  },
  "finds a pet by its id, with every field that it was created with": {
    "loses the status": withFound((pet) => ({ ...pet, status: "available" })),
  },
  "returns undefined for an id that no pet has": {
    "cuts ids to 32 bits": withPets((real) => ({
      find: (id) => real.find(BigInt.asUintN(32, id)),
    })),
  },
  "lists whole pets in ascending order of id": {
    "lists the newest first": withPage((page) => ({ ...page, pets: page.pets.toReversed() })),
  },
  "lists exactly the pets with the given status, page after page": {
    "filters by status after it has cut the page": withPets((real) => ({
      list: async (query) => {
        const matches = ({ status }: Pet) => query.status === undefined || status === query.status;
        const listed = await real.list({ ...query, status: undefined });
        return listed.map((page) => ({ ...page, pets: page.pets.filter(matches) }));
      },
    })),
  },
  "ends a page at its limit, and sets next only when another page follows": {
    "sets next on every full page": withPage((page, { limit }) => ({
      ...page,
      next: page.pets.length === limit ? page.pets.at(-1)?.id : undefined,
    })),
    "never sets next": withPage((page) => ({ ...page, next: undefined })),
  },
  "lists the pets after any int64, whether a pet has that id or not": {
    "includes the id itself": withPets((real) => ({
      list: (query) => real.list({ ...query, after: query.after && query.after - 1n }),
    })),
  },
  "lists a pet as soon as its create has resolved": {
    "caches the first page forever": withPets((real) => {
      let cached: PetPage | undefined;
      return {
        list: async (query) =>
          cached ? ok(cached) : (await real.list(query)).map((page) => (cached = page)),
      };
    }),
  },
};

function withCreated(change: (pet: Pet) => Pet): Change {
  return withPets((real) => ({ create: async (pet) => (await real.create(pet)).map(change) }));
}

function withFound(change: (pet: Pet) => Pet): Change {
  return withPets((real) => ({
    find: async (id) => (await real.find(id)).map((pet) => pet && change(pet)),
  }));
}

function withPage(change: (page: PetPage, query: PetQuery) => PetPage): Change {
  return withPets((real) => ({
    list: async (query) => (await real.list(query)).map((page) => change(page, query)),
  }));
}

function withPets(change: (pets: PetStorage) => Partial<PetStorage>): Change {
  return (storage) => ({ ...storage, pets: { ...storage.pets, ...change(storage.pets) } });
}
