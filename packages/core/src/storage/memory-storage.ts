import { err, ok, type Result } from "neverthrow";
import { NO_USAGE, type Usage } from "../limits/usage.js";
import { INT64_MAX } from "../pets/int64.js";
import { pageOf, petFilters } from "../pets/list-query.js";
import type { PetFilter, PetPage, PetQuery } from "../pets/list-query.js";
import { missingPets, petOf, type NewPet, type Pet } from "../pets/pet.js";
import { storageError, type Creation, type CreationRequest, type KeyStorage } from "./storage.js";
import type { KeyWithUsage, PetStorage, PresentedKey, Storage } from "./storage.js";
import type { StorageError, UsageStorage } from "./storage.js";

/** Runs a call immediately. If the work throws, the call fails. */
type Run = <T>(work: () => T) => Promise<Result<T, StorageError>>;

/** Creates a storage in this process's memory: for tests, and for hosts that need no persistence. */
export function createMemoryStorage(): Storage {
  let isOpen = true;
  const run: Run = (work) => {
    if (!isOpen) return Promise.resolve(err(storageError("The memory storage is closed.")));
    try {
      return Promise.resolve(ok(work()));
    } catch (cause) {
      return Promise.resolve(err(storageError("The memory storage failed.", cause)));
    }
  };
  const tables: KeyTables = { keys: new Map(), owners: new Map() };
  return {
    pets: petsInMemory(run),
    keys: keysInMemory(run, tables),
    usage: usageInMemory(run, tables),
    close: () => {
      isOpen = false;
      return Promise.resolve(ok());
    },
  };
}

/** Keeps a list for each choice of filters, in ascending order of id, so that listing reads only the pets of its page. */
function petsInMemory(run: Run): PetStorage {
  const all: Pet[] = [];
  const lists = new Map([[keyOf([], {}), all]]);
  const createOnce = createCreations();

  const put = (id: bigint, newPet: NewPet): Pet => {
    const pet = petOf(id, newPet);
    for (const fields of choices) {
      const key = keyOf(fields, pet);
      const list = lists.get(key) ?? [];
      list.splice(indexOf(list, id), 0, pet);
      lists.set(key, list);
    }
    return pet;
  };
  const add = (pet: NewPet): Pet => {
    const lastId = all.at(-1)?.id ?? 0n;
    if (lastId === INT64_MAX) throw new Error("No id is left.");
    return put(lastId + 1n, pet);
  };
  const find = (id: bigint): Pet | undefined => {
    const pet = all[indexOf(all, id)];
    return pet?.id === id ? pet : undefined;
  };
  const list = (query: PetQuery): PetPage => {
    const { limit, after } = query;
    const fields = petFilters.filter((field) => query[field] !== undefined);
    const pets = lists.get(keyOf(fields, query)) ?? [];
    const start = after === undefined ? 0 : indexOf(pets, after + 1n);
    // One pet more than the page holds shows whether there is a next page.
    return pageOf(pets.slice(start, start + limit + 1), limit);
  };
  return {
    create: (pet) => run(() => add(pet)),
    createOnce: (pet, request) => run(() => createOnce(request, () => add(pet).id)),
    import: (moved) =>
      run(() => {
        const { missing, conflict } = missingPets(moved, find);
        missing.forEach((pet) => put(pet.id, pet));
        return { added: missing.length, conflict };
      }),
    find: (id) => run(() => find(id)),
    list: (query) => run(() => list(query)),
  };
}

type Filters = readonly (keyof PetFilter)[];

const choices = petFilters.reduce<readonly Filters[]>(
  (others, field) => [...others, ...others.map((fields) => [...fields, field])],
  [[]],
);

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
  return (request: CreationRequest, addPet: () => bigint): Creation => {
    const { token, fingerprint, now, expiresAt } = request;
    const earlier = creations.get(token);
    if (earlier !== undefined && now < earlier.expiresAt) return { ...earlier, replayed: true };
    const creation = { petId: addPet(), fingerprint, expiresAt };
    removeNext(now);
    removeNext(now);
    creations.set(token, creation);
    return { ...creation, replayed: false };
  };
}

/** Returns the index of the first item that comes after some place, in an array in order. */
function indexAfter<T>(inOrder: readonly T[], isAfter: (item: T) => boolean): number {
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

/** The keys by id, and the id of the key that has a secret, by the secret's digest. */
interface KeyTables {
  readonly keys: Map<string, KeyWithUsage>;
  readonly owners: Map<string, string>;
}

function keysInMemory(run: Run, tables: KeyTables): KeyStorage {
  const { keys, owners } = tables;
  /** The ids of all keys, in ascending order; unset when a key is added. Some keys may have been removed since. */
  let ids: string[] | undefined;

  const add = (added: readonly KeyWithUsage[]): number => {
    const digests = added.flatMap(({ key }) => key.secrets.map(({ digest }) => digest));
    const isTaken = digests.some((digest) => owners.has(digest));
    if (isTaken || new Set(digests).size < digests.length) throw new Error(DIGEST_TAKEN);
    ids = undefined;
    for (const each of added) put(tables, each);
    return added.length;
  };
  const remove = (id: string): boolean => {
    keys.get(id)?.key.secrets.forEach(({ digest }) => owners.delete(digest));
    return keys.delete(id);
  };
  return {
    insert: (key) =>
      run(() => {
        if (keys.has(key.id)) throw new Error("This id is taken.");
        add([{ key, usage: NO_USAGE }]);
      }),
    import: (moved) => run(() => add(moved.filter(({ key }) => !keys.has(key.id)))),
    find: (id) => run(() => keys.get(id)),
    list: ({ limit, after = "", banned }) =>
      run(() => {
        const page: KeyWithUsage[] = [];
        ids ??= [...keys.keys()].sort();
        const start = indexAfter(ids, (id) => id > after);
        for (let index = start; index < ids.length && page.length < limit; index += 1) {
          const found = keys.get(ids[index] ?? "");
          if (found !== undefined && (!banned || found.usage.bans > 0)) page.push(found);
        }
        return page;
      }),
    update: (id, decide) =>
      run(() => {
        const stored = keys.get(id);
        const { next, result } = decide(stored?.key);
        if (stored && next) {
          for (const { digest } of next.secrets)
            if ((owners.get(digest) ?? id) !== id) throw new Error(DIGEST_TAKEN);
          remove(id);
          put(tables, { key: { ...next, id }, usage: stored.usage });
        }
        return result;
      }),
    remove: (removed) => run(() => removed.filter(remove).length),
  };
}

const DIGEST_TAKEN = "This digest is taken.";

function put({ keys, owners }: KeyTables, stored: KeyWithUsage): void {
  const { id, secrets } = stored.key;
  keys.set(id, stored);
  for (const { digest } of secrets) owners.set(digest, id);
}

function usageInMemory(run: Run, { keys, owners }: KeyTables): UsageStorage {
  const find = (digest: string): PresentedKey | undefined => {
    const stored = keys.get(owners.get(digest) ?? "");
    const secret = stored?.key.secrets.find((each) => each.digest === digest);
    if (!stored || !secret) return undefined;
    return { key: stored.key, usage: stored.usage, secretExpiresAt: secret.expiresAt };
  };
  const store = (id: string, usage: Usage | undefined): void => {
    const stored = keys.get(id);
    if (stored && usage) keys.set(id, { key: stored.key, usage });
  };
  return {
    charge: (digest, decide) =>
      run(() => {
        const presented = find(digest);
        const { next, result } = decide(presented);
        if (presented) store(presented.key.id, next);
        return result;
      }),
    findByDigest: (digest) => run(() => find(digest)),
    update: (keyId, decide) =>
      run(() => {
        const { next, result } = decide(keys.get(keyId)?.usage);
        store(keyId, next);
        return result;
      }),
  };
}
