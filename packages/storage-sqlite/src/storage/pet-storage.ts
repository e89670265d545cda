import {
  INT64_MAX,
  type NewPet,
  type Pet,
  type PetPage,
  type PetQuery,
  type PetStorage,
} from "@petstore/core";
import type { GroupCommit } from "../commit/group-commit.js";
import { NoIdLeft } from "../database/sqlite-error.js";
import type { Pets } from "../tables/pets.js";
import { createPageCache } from "./page-cache.js";

/** Adds pets in one transaction. It holds the write lock, so it can assign ids and insert all pets at the end. */
export interface PetsTransaction {
  /** @throws NoIdLeft */
  add(pet: NewPet): Pet;
  flush(): void;
}

export function createPetsTransaction(table: Pets): PetsTransaction {
  const added: Pet[] = [];
  let lastId: bigint | undefined;
  return {
    add: ({ name, categoryId, status }) => {
      lastId ??= table.lastId();
      if (lastId === INT64_MAX) throw new NoIdLeft();
      lastId += 1n;
      const pet = Object.freeze({ id: lastId, name, categoryId, status });
      added.push(pet);
      return pet;
    },
    flush: () => table.insert(added),
  };
}

export function createPetStorage(
  table: Pets,
  reading: GroupCommit<unknown>,
  writing: GroupCommit<PetsTransaction>,
): PetStorage {
  const pages = createPageCache();

  const readPage = (query: PetQuery): PetPage => {
    const revision = table.revision();
    if (revision === undefined) return pageOf(table, query);
    const known = pages.find(revision, query);
    if (known) return known;
    const page = pageOf(table, query);
    pages.keep(revision, query, page);
    return page;
  };

  return {
    create: (pet) => writing.add("Adding a pet", (transaction) => transaction.add(pet)),
    find: (id) => reading.add("Finding a pet", () => table.find(id)),
    list: (query) => reading.add("Listing pets", () => readPage(query)),
  };
}

/** Reads one pet more than the page holds, to see whether there is a next page. */
function pageOf(table: Pets, { limit, after, status }: PetQuery): PetPage {
  const found = table.list(limit + 1, after ?? 0n, status);
  const pets = Object.freeze(found.slice(0, limit));
  return Object.freeze({ pets, next: found.length > limit ? pets.at(-1)?.id : undefined });
}
