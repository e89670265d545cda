import type { Pet, PetPage, PetQuery, PetStorage } from "@petstore/core";
import { setImmediate } from "node:timers/promises";
import { storageFailure } from "@petstore/core";
import { okAsync, ResultAsync } from "neverthrow";
import type { Change } from "./memory-place.js";

/** Storages whose inventory breaks one promise each, by the name of the promise. */
export const brokenPets: readonly (readonly [promise: string, flaw: string, Change])[] = [
  [
    "gives each pet a positive id of its own, also when many are added at once",
    "gives two pets the same id",
    brokenCreate((pet) => ({ ...pet, id: (pet.id + 1n) / 2n })),
  ],
  [
    "gives each pet a positive id of its own, also when many are added at once",
    "answers all calls of a turn with the same pet",
    withPets((real) => {
      let first: ReturnType<typeof real.create> | undefined;
      return { create: (pet) => (first ??= real.create(pet)) };
    }),
  ],
  [
    "gives a pet a greater id than every pet before it",
    "counts downwards",
    brokenCreate((pet) => ({ ...pet, id: 1_000n - pet.id })),
  ],
  [
    "keeps every int64 categoryId exact",
    "takes them through a double",
    withPets((real) => ({
      create: (pet) =>
        real.create({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }),
    })),
  ],
  [
    "keeps every name exact",
    "normalises Unicode",
    withPets((real) => ({
      create: (pet) => real.create({ ...pet, name: pet.name.normalize("NFC") }),
    })),
  ],
  [
    "keeps every name exact",
    "cuts long names",
    brokenFind((pet) => ({ ...pet, name: pet.name.slice(0, 65_535) })),
  ],
  [
    "finds each pet by its id, whole, as it was answered when it was added",
    "forgets the status",
    brokenFind((pet) => ({ ...pet, status: "available" })),
  ],
  [
    "adds several pets together as it adds one, with ascending ids in the order given",
    "adds the last one first",
    withPets((real) => ({
      createAll: (pets) => real.createAll(pets.toReversed()).map((created) => created.toReversed()),
    })),
  ],
  [
    "adds several pets together as it adds one, with ascending ids in the order given",
    "drops all beyond a hundred",
    withPets((real) => ({ createAll: (pets) => real.createAll(pets.slice(0, 100)) })),
  ],
  [
    "shows all or none of the pets that are added together, and all once it has answered",
    "adds one a turn",
    withPets((real) => ({
      createAll: (pets) =>
        ResultAsync.fromPromise(
          (async () => {
            const created: Pet[] = [];
            for (const pet of pets) {
              await setImmediate();
              created.push((await real.create(pet))._unsafeUnwrap());
            }
            return created;
          })(),
          (cause) => storageFailure("failed", cause),
        ),
    })),
  ],
  [
    "shows all or none of the pets that are added together, and all once it has answered",
    "answers before it adds them",
    withPets((real) => ({
      createAll: (pets) => {
        void setImmediate().then(() => setImmediate().then(() => real.createAll(pets)));
        return okAsync(pets.map((pet, index) => ({ id: BigInt(index + 1), ...pet })));
      },
    })),
  ],
  [
    "answers undefined for an id that no pet has",
    "cuts ids to 32 bits",
    withPets((real) => ({ find: (id) => real.find(BigInt.asUintN(32, id)) })),
  ],
  [
    "lists pets whole and in ascending order of id",
    "lists the newest first",
    brokenList((page) => ({ ...page, pets: page.pets.toReversed() })),
  ],
  [
    "lists exactly the pets with the status that is asked for, over all pages",
    "filters after cutting the page",
    withPets((real) => ({
      list: (query) =>
        real.list({ ...query, status: undefined }).map((page) => ({
          ...page,
          pets: page.pets.filter(
            (pet) => query.status === undefined || pet.status === query.status,
          ),
        })),
    })),
  ],
  [
    "ends a page where its limit says, and tells whether another one follows",
    "takes a full page for one that is followed",
    brokenList((page, { limit }) => ({
      ...page,
      next: page.pets.length === limit ? page.pets.at(-1)?.id : undefined,
    })),
  ],
  [
    "ends a page where its limit says, and tells whether another one follows",
    "never has a next page",
    brokenList((page) => ({ ...page, next: undefined })),
  ],
  [
    "lists after any int64, be it the id of a pet or not",
    "includes the id itself",
    withPets((real) => ({
      list: (query) => real.list({ ...query, after: query.after && query.after - 1n }),
    })),
  ],
  [
    "shows a pet in the very next list after it was added",
    "caches pages for ever",
    withPets((real) => {
      let cached: PetPage | undefined;
      return {
        list: (query) =>
          cached ? okAsync(cached) : real.list(query).map((page) => (cached = page)),
      };
    }),
  ],
];

function brokenCreate(change: (pet: Pet) => Pet): Change {
  return withPets((real) => ({ create: (pet) => real.create(pet).map(change) }));
}

function brokenFind(change: (pet: Pet) => Pet): Change {
  return withPets((real) => ({ find: (id) => real.find(id).map((pet) => pet && change(pet)) }));
}

function brokenList(change: (page: PetPage, query: PetQuery) => PetPage): Change {
  return withPets((real) => ({
    list: (query) => real.list(query).map((page) => change(page, query)),
  }));
}

function withPets(change: (pets: PetStorage) => Partial<PetStorage>): Change {
  return (storage) => ({ ...storage, pets: { ...storage.pets, ...change(storage.pets) } });
}
