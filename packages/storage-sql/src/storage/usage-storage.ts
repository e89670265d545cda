import type { Decide, KeyHolder, Usage, UsageStorage } from "@petstore/core";
import type { GroupCommit } from "../commit/group-commit.js";

/** Reads one key's usage: from a table, or from the rows that were read for a transaction. */
export interface UsageReader {
  /** The key that has the secret with this digest, and its usage. */
  findHolder(digest: string): KeyHolder | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
}

/**
 * Reads and saves the usage of keys in one transaction. A call sees the usage that earlier calls saved,
 * whichever secret of the key they used.
 */
export interface UsageTransaction extends UsageReader {
  save(keyId: string, usage: Usage): void;
  /** What was saved, for the end of the transaction: each changed usage is written once. */
  readonly changed: ReadonlyMap<string, Usage>;
}

/** Which key a call charges: the one with this secret, or with this id. */
export type UsageSubject =
  | { readonly digest: string; readonly keyId?: undefined }
  | { readonly keyId: string; readonly digest?: undefined };

/** Creates a transaction that reads from this table and saves nothing by itself. */
export function createUsageTransaction(table: UsageReader): UsageTransaction {
  const changed = new Map<string, Usage>();
  return {
    findHolder: (digest) => {
      const holder = table.findHolder(digest);
      const usage = holder && changed.get(holder.key.id);
      return usage ? { ...holder, usage } : holder;
    },
    find: (keyId) => changed.get(keyId) ?? table.find(keyId),
    save: (keyId, usage) => void changed.set(keyId, usage),
    changed,
  };
}

/** Creates the storage of usage, whose charges are committed in groups. */
export function createUsageStorage(
  findHolder: UsageStorage["findHolder"],
  charging: GroupCommit<UsageTransaction, UsageSubject>,
): UsageStorage {
  return {
    findHolder,
    charge: (digest, decide) =>
      charging.add("Charging an API key", charge(digest, decide), { digest }),
    update: (keyId, decide) =>
      charging.add("Changing the usage of an API key", update(keyId, decide), { keyId }),
  };
}

function charge<Value>(digest: string, decide: Decide<KeyHolder | undefined, Usage, Value>) {
  return (transaction: UsageTransaction): Value => {
    const holder = transaction.findHolder(digest);
    const { next, result } = decide(holder);
    if (holder && next && next !== holder.usage) transaction.save(holder.key.id, next);
    return result;
  };
}

function update<Value>(keyId: string, decide: Decide<Usage | undefined, Usage, Value>) {
  return (transaction: UsageTransaction): Value => {
    const usage = transaction.find(keyId);
    const { next, result } = decide(usage);
    if (usage && next && next !== usage) transaction.save(keyId, next);
    return result;
  };
}
