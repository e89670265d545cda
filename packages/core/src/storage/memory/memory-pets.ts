import type { PetPage, PetQuery } from "../../pets/list-query.js";
import { petStatuses, type NewPet, type Pet, type PetStatus } from "../../pets/pet.js";
import type { PetStorage } from "../pet-storage.js";
import { firstIndexWhere } from "./bisect.js";
import type { Run } from "./memory-run.js";

/** The inventory in memory: in order of id, whole and by status. */
export function createMemoryPets(run: Run): PetStorage {
  const all: Pet[] = [];
  const byStatus = new Map<PetStatus, Pet[]>(petStatuses.map((status) => [status, []]));

  const add = ({ name, categoryId, status }: NewPet): Pet => {
    const created = Object.freeze({ id: BigInt(all.length + 1), name, categoryId, status });
    all.push(created);
    byStatus.get(status)?.push(created);
    return created;
  };

  return {
    create: (pet) => run(() => add(pet)),
    find: (id) => run(() => (id >= 1n && id <= all.length ? all[Number(id) - 1] : undefined)),
    list: (query) =>
      run(() => page(query.status === undefined ? all : (byStatus.get(query.status) ?? []), query)),
  };
}

function page(inOrder: readonly Pet[], { limit, after }: PetQuery): PetPage {
  const isAfter = (index: number): boolean =>
    after === undefined || (inOrder[index]?.id ?? after) > after;
  const start = firstIndexWhere(inOrder.length, isAfter);
  const pets = Object.freeze(inOrder.slice(start, start + limit));
  return { pets, next: start + limit < inOrder.length ? pets.at(-1)?.id : undefined };
}
