import type { Decided, PresentedKey, Usage, UsageStorage } from "@petstore/core/storage";
import type { GroupCommit } from "./commit/group-commit.js";

/** Reads one key's usage: from a table, or from the rows that were read for a transaction. */
export interface UsageReader {
  findByDigest(digest: string): PresentedKey | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
}

/** Reads and saves the usage of keys in one transaction. A call sees what earlier calls saved by any secret. */
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
    findByDigest: (digest) => {
      const presented = table.findByDigest(digest);
      const usage = presented && changed.get(presented.key.id);
      return usage ? { ...presented, usage } : presented;
    },
    find: (keyId) => changed.get(keyId) ?? table.find(keyId),
    save: (keyId, usage) => void changed.set(keyId, usage),
    changed,
  };
}

export function createChargedUsage(
  findByDigest: UsageStorage["findByDigest"],
  charging: GroupCommit<UsageTransaction, UsageSubject>,
): UsageStorage {
  return {
    findByDigest,
    charge: (digest, decide) => {
      const charge = (transaction: UsageTransaction) => {
        const presented = transaction.findByDigest(digest);
        return save(transaction, presented?.key.id, presented?.usage, decide(presented));
      };
      return charging.add("Charging an API key", charge, { digest });
    },
    update: (keyId, decide) => {
      const update = (transaction: UsageTransaction) => {
        const usage = transaction.find(keyId);
        return save(transaction, keyId, usage, decide(usage));
      };
      return charging.add("Changing the usage of an API key", update, { keyId });
    },
  };
}

/** Saves the usage that was decided on, if there is such a key and it differs. Returns the result of the decision. */
function save<Value>(
  transaction: UsageTransaction,
  keyId: string | undefined,
  usage: Usage | undefined,
  { next, result }: Decided<Usage, Value>,
): Value {
  if (keyId !== undefined && usage && next && next !== usage) transaction.save(keyId, next);
  return result;
}
