import { err, ok } from "neverthrow";
import type { StoredApiKey } from "../keys/api-key.js";
import { NO_USAGE, type Usage } from "../limits/usage.js";
import { createMemoryPetStorage, indexAfter, type Run } from "./memory-pets.js";
import {
  storageError,
  type PresentedKey,
  type KeyStorage,
  type KeyWithUsage,
  type Storage,
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
    pets: createMemoryPetStorage(run),
    keys: createKeyStorage(run, tables),
    usage: usageInMemory(run, tables),
    close: () => {
      isOpen = false;
      return Promise.resolve(ok());
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
