import { err, ok, type Result } from "neverthrow";
import type { StoredApiKey } from "../keys/api-key.js";
import { NO_USAGE, type Usage } from "../limits/usage.js";
import { INT64_MAX } from "../pets/int64.js";
import { matches, pageOf, type PetFilter } from "../pets/list-query.js";
import { missingPets } from "../pets/moved-pets.js";
import { petOf, type NewPet, type Pet } from "../pets/pet.js";
import {
  storageError,
  type Creation,
  type PresentedKey,
  type KeyStorage,
  type KeyWithUsage,
  type PetStorage,
  type Storage,
  type StorageError,
  type UsageStorage,
} from "./storage.js";

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
  const tables: KeyTables = { keys: new Map(), ids: [], owners: new Map(), usages: new Map() };
  return {
    pets: petsInMemory(run),
    keys: createKeyStorage(run, tables),
    usage: usageInMemory(run, tables),
    close: () => {
      isOpen = false;
      return Promise.resolve(ok());
    },
  };
}

/** Runs a call immediately. If the work throws, the call fails. */
type Run = <T>(work: () => T) => Promise<Result<T, StorageError>>;

function petsInMemory(run: Run): PetStorage {
  const all: Pet[] = [];
  const creations = createCreations();

  /** Returns the index of the first pet with this id or a greater one. */
  const indexOf = (id: bigint): number => indexAfter(all, (each) => each.id >= id);
  const put = (id: bigint, newPet: NewPet): Pet => {
    const pet = petOf(id, newPet);
    all.splice(indexOf(id), 0, pet);
    return pet;
  };
  const add = (pet: NewPet): Pet => {
    const lastId = all.at(-1)?.id ?? 0n;
    if (lastId === INT64_MAX) throw new Error("No id is left.");
    return put(lastId + 1n, pet);
  };
  const find = (id: bigint): Pet | undefined => {
    const pet = all[indexOf(id)];
    return pet?.id === id ? pet : undefined;
  };
  /** Yields the pets from this index on that pass the filter. */
  const from = function* (start: number, filter: PetFilter) {
    for (let index = start; index < all.length; index += 1) {
      const pet = all[index];
      if (pet !== undefined && matches(pet, filter)) yield pet;
    }
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
    import: (pets) =>
      run(() => {
        const { missing, conflict } = missingPets(pets, find);
        missing.forEach((pet) => put(pet.id, pet));
        return { added: missing.length, conflict };
      }),
    find: (id) => run(() => find(id)),
    list: ({ limit, after, ...filter }) =>
      run(() => pageOf(from(after === undefined ? 0 : indexOf(after + 1n), filter), limit)),
  };
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

interface KeyTables {
  readonly keys: Map<string, StoredApiKey>;
  /** The ids of the keys, in ascending order; some may be of keys that were removed. */
  ids: string[];
  /** The id of the key that has the secret, by the secret's digest. */
  readonly owners: Map<string, string>;
  readonly usages: Map<string, Usage>;
}

function createKeyStorage(run: Run, tables: KeyTables): KeyStorage {
  const { keys, usages } = tables;
  const find = (id: string): KeyWithUsage | undefined => {
    const key = keys.get(id);
    return key && { key, usage: usages.get(id) ?? NO_USAGE };
  };
  return {
    insert: (key) =>
      run(() => {
        if (keys.has(key.id)) throw new Error("This id is taken.");
        addKey(tables, key);
      }),
    import: (moved) => run(() => importKeys(tables, moved)),
    find: (id) => run(() => find(id)),
    list: ({ limit, after = "", banned }) =>
      run(() => {
        const { ids } = tables;
        const page: KeyWithUsage[] = [];
        for (let at = indexAfter(ids, (id) => id > after); page.length < limit; at += 1) {
          const id = ids[at];
          if (id === undefined) break;
          const found = find(id);
          if (found !== undefined && (!banned || found.usage.bans > 0)) page.push(found);
        }
        return page;
      }),
    update: (id, decide) =>
      run(() => {
        const key = keys.get(id);
        const { next, result } = decide(key);
        if (key && next) putKey(tables, { ...next, id }, key);
        return result;
      }),
    remove: (ids) =>
      run(() => {
        const removed = ids.filter((id) => removeKey(tables, id)).length;
        // Not for each removal, so that all of them together take linear time.
        if (tables.ids.length > 2 * keys.size) tables.ids = tables.ids.filter((id) => keys.has(id));
        return removed;
      }),
  };
}

/** Adds those whose ids are not taken, all or none. Returns how many these are. */
function importKeys(tables: KeyTables, moved: readonly KeyWithUsage[]): number {
  const { keys, owners, usages } = tables;
  const added = moved.filter(({ key }) => !keys.has(key.id));
  const digests = added.flatMap(({ key }) => key.secrets.map(({ digest }) => digest));
  const isTaken = digests.some((digest) => owners.has(digest));
  if (isTaken || new Set(digests).size < digests.length) throw new Error(DIGEST_TAKEN);
  for (const { key, usage } of added) {
    addKey(tables, key);
    usages.set(key.id, usage);
  }
  return added.length;
}

const DIGEST_TAKEN = "This digest is taken.";

function addKey(tables: KeyTables, key: StoredApiKey): void {
  putKey(tables, key);
  const index = indexAfter(tables.ids, (id) => id > key.id);
  if (tables.ids[index - 1] !== key.id) tables.ids.splice(index, 0, key.id);
}

/** Stores a key in place of an older version of it. */
function putKey({ keys, owners }: KeyTables, key: StoredApiKey, older?: StoredApiKey): void {
  for (const { digest } of key.secrets) {
    if ((owners.get(digest) ?? key.id) !== key.id) throw new Error(DIGEST_TAKEN);
  }
  older?.secrets.forEach(({ digest }) => owners.delete(digest));
  for (const { digest } of key.secrets) owners.set(digest, key.id);
  keys.set(key.id, key);
}

/** Returns whether there was a key with this id. */
function removeKey({ keys, owners, usages }: KeyTables, id: string): boolean {
  keys.get(id)?.secrets.forEach(({ digest }) => owners.delete(digest));
  usages.delete(id);
  return keys.delete(id);
}

function usageInMemory(run: Run, { keys, owners, usages }: KeyTables): UsageStorage {
  const presentedKeyOf = (digest: string): PresentedKey | undefined => {
    const key = keys.get(owners.get(digest) ?? "");
    const secret = key?.secrets.find((each) => each.digest === digest);
    if (!key || !secret) return undefined;
    return { key, secretExpiresAt: secret.expiresAt, usage: usages.get(key.id) ?? NO_USAGE };
  };
  return {
    charge: (digest, decide) =>
      run(() => {
        const presented = presentedKeyOf(digest);
        const { next, result } = decide(presented);
        if (presented && next) usages.set(presented.key.id, next);
        return result;
      }),
    findByDigest: (digest) => run(() => presentedKeyOf(digest)),
    update: (keyId, decide) =>
      run(() => {
        const usage = keys.has(keyId) ? (usages.get(keyId) ?? NO_USAGE) : undefined;
        const { next, result } = decide(usage);
        if (usage && next) usages.set(keyId, next);
        return result;
      }),
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
