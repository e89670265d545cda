import { err, ok } from "neverthrow";
import { NO_USAGE, type Usage } from "../limits/usage.js";
import { createMemoryPetStorage, indexAfter, type Run } from "./memory-pets.js";
import { storageError } from "./storage.js";
import type { PresentedKey, KeyStorage, KeyWithUsage, Storage, UsageStorage } from "./storage.js";

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
    pets: createMemoryPetStorage(run),
    keys: keysInMemory(run, tables),
    usage: usageInMemory(run, tables),
    close: () => {
      isOpen = false;
      return Promise.resolve(ok());
    },
  };
}

/** The keys by id, and the id of the key that has a secret, by the secret's digest. */
interface KeyTables {
  readonly keys: Map<string, KeyWithUsage>;
  readonly owners: Map<string, string>;
}

function keysInMemory(run: Run, tables: KeyTables): KeyStorage {
  const { keys, owners } = tables;
  /** All ids, in ascending order; some may be of keys that were removed. */
  let ids: string[] = [];

  const add = (added: readonly KeyWithUsage[]): number => {
    const digests = added.flatMap(({ key }) => key.secrets.map(({ digest }) => digest));
    const isTaken = digests.some((digest) => owners.has(digest));
    if (isTaken || new Set(digests).size < digests.length) throw new Error(DIGEST_TAKEN);
    for (const each of added) {
      const { id } = each.key;
      const index = indexAfter(ids, (other) => other >= id);
      if (ids[index] !== id) ids.splice(index, 0, id);
      put(tables, each);
    }
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
    remove: (removed) =>
      run(() => {
        const count = removed.filter(remove).length;
        // Not with each removal, so that all of them together take linear time.
        if (ids.length > 2 * keys.size) ids = ids.filter((id) => keys.has(id));
        return count;
      }),
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
