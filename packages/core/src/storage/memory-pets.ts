import type { Result } from "neverthrow";
import { INT64_MAX } from "../pets/int64.js";
import { pageOf, petFilters, type PetFilter, type PetQuery } from "../pets/list-query.js";
import { missingPets, petOf, type NewPet, type Pet } from "../pets/pet.js";
import type { Creation, PetStorage, StorageError } from "./storage.js";

/** Runs a call immediately. If the work throws, the call fails. */
export type Run = <T>(work: () => T) => Promise<Result<T, StorageError>>;

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

type Filters = readonly (keyof PetFilter)[];

const choices = petFilters.reduce<readonly Filters[]>(
  (others, field) => [...others, ...others.map((fields) => [...fields, field])],
  [[]],
);

/** Keeps a list for each choice of filters, in ascending order of id, so that listing reads only the pets of its page. */
function createPets() {
  const all: Pet[] = [];
  const lists = new Map([[keyOf([], {}), all]]);

  return {
    lastId: () => all.at(-1)?.id ?? 0n,
    put: (id: bigint, newPet: NewPet): Pet => {
      const pet = petOf(id, newPet);
      for (const fields of choices) {
        const key = keyOf(fields, pet);
        const list = lists.get(key) ?? [];
        list.splice(indexOf(list, id), 0, pet);
        lists.set(key, list);
      }
      return pet;
    },
    find: (id: bigint): Pet | undefined => {
      const pet = all[indexOf(all, id)];
      return pet?.id === id ? pet : undefined;
    },
    list: (query: PetQuery) => {
      const { limit, after } = query;
      const fields = petFilters.filter((field) => query[field] !== undefined);
      const list = lists.get(keyOf(fields, query)) ?? [];
      const start = after === undefined ? 0 : indexOf(list, after + 1n);
      // One pet more than the page holds shows whether there is a next page.
      return pageOf(list.slice(start, start + limit + 1), limit);
    },
  };
}

/** Returns a text that differs if the values differ: no text of a pet has a NUL. */
function keyOf(fields: Filters, values: Partial<PetFilter>): string {
  return fields.map((field) => `${field}=${values[field]}`).join("\0");
}

const indexOf = (pets: readonly Pet[], id: bigint): number =>
  indexAfter(pets, (each) => each.id >= id);

/** For each that is added, two are looked at, in turn, and removed if they have expired: memory stays bounded. */
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
