import type { Result } from "neverthrow";
import { INT64_MAX } from "../pets/int64.js";
import {
  matches,
  pageOf,
  petFilters,
  type PetFilter,
  type PetPage,
  type PetQuery,
} from "../pets/list-query.js";
import { missingPets } from "../pets/moved-pets.js";
import { petOf, type NewPet, type Pet } from "../pets/pet.js";
import type { Creation, PetStorage, StorageError } from "./storage.js";

/** Runs a call immediately. If the work throws, the call fails. */
export type Run = <T>(work: () => T) => Promise<Result<T, StorageError>>;

/** Creates the pets of a memory storage. */
export function createMemoryPetStorage(run: Run): PetStorage {
  const pets = createPets();
  const creations = createCreations();

  const add = (pet: NewPet): Pet => {
    const lastId = pets.lastId();
    if (lastId === INT64_MAX) throw new Error("No id is left.");
    return pets.put(lastId + 1n, pet);
  };
  return {
    create: (pet) => run(() => add(pet)),
    createOnce: (pet, { token, fingerprint, now, expiresAt }) =>
      run(() => {
        const earlier = creations.get(token);
        if (earlier !== undefined && now < earlier.expiresAt) return { ...earlier, replayed: true };
        const creation = { petId: add(pet).id, fingerprint, expiresAt };
        creations.add(token, creation, now);
        return { ...creation, replayed: false };
      }),
    import: (moved) =>
      run(() => {
        const { missing, conflict } = missingPets(moved, pets.find);
        missing.forEach((pet) => pets.put(pet.id, pet));
        return { added: missing.length, conflict };
      }),
    find: (id) => run(() => pets.find(id)),
    list: (query) => run(() => pets.list(query)),
  };
}

/** Creates the pets in ascending order of id, with an index for each filter: no list reads all pets to find a few. */
function createPets() {
  const all: Pet[] = [];
  const byValue = petFilters.map((field) => ({ field, lists: new Map<unknown, Pet[]>() }));

  const shortestListFor = (filter: PetFilter): readonly Pet[] =>
    byValue
      .filter(({ field }) => filter[field] !== undefined)
      .map(({ field, lists }) => lists.get(filter[field]) ?? [])
      .reduce((shortest, list) => (list.length < shortest.length ? list : shortest), all);
  return {
    lastId: () => all.at(-1)?.id ?? 0n,
    put: (id: bigint, newPet: NewPet): Pet => {
      const pet = petOf(id, newPet);
      insert(all, pet);
      for (const { field, lists } of byValue) {
        const list = lists.get(pet[field]) ?? [];
        insert(list, pet);
        lists.set(pet[field], list);
      }
      return pet;
    },
    find: (id: bigint): Pet | undefined => {
      const pet = all[indexOf(all, id)];
      return pet?.id === id ? pet : undefined;
    },
    list: ({ limit, after, ...filter }: PetQuery): PetPage => {
      const list = shortestListFor(filter);
      const start = after === undefined ? 0 : indexOf(list, after + 1n);
      return pageOf(passing(list, start, filter), limit);
    },
  };
}

/** Returns the index of the first pet with this id or a greater one. */
function indexOf(pets: readonly Pet[], id: bigint): number {
  return indexAfter(pets, (each) => each.id >= id);
}

function insert(pets: Pet[], pet: Pet): void {
  pets.splice(indexOf(pets, pet.id), 0, pet);
}

/** Yields the pets from this index on that pass the filter. */
function* passing(pets: readonly Pet[], start: number, filter: PetFilter): Generator<Pet> {
  for (let index = start; index < pets.length; index += 1) {
    const pet = pets[index];
    if (pet !== undefined && matches(pet, filter)) yield pet;
  }
}

/**
 * Creates the creations that are remembered. For each that is added, the next two are looked at, round and round, and
 * removed if they have expired: no call takes long, and memory stays bounded, however long each is remembered.
 */
function createCreations() {
  const creations = new Map<string, Omit<Creation, "replayed">>();
  let next = creations.entries();
  const removeNext = (now: number): void => {
    const { done, value } = next.next();
    if (done === true) next = creations.entries();
    else if (now >= value[1].expiresAt) creations.delete(value[0]);
  };
  return {
    get: (token: string) => creations.get(token),
    add: (token: string, creation: Omit<Creation, "replayed">, now: number): void => {
      removeNext(now);
      removeNext(now);
      creations.set(token, creation);
    },
  };
}

/** Returns the index of the first item that comes after some place, in an array in order. */
export function indexAfter<T>(inOrder: readonly T[], isAfter: (item: T) => boolean): number {
  let low = 0;
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = inOrder[middle];
    if (item === undefined || isAfter(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
