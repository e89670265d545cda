import type { Decided, PresentedKey, Usage, UsageStorage } from "@petstore/core/storage";
import type { GroupCommit } from "./commit/group-commit.js";

/** Reads and saves the usage of keys in one transaction. A call sees what earlier calls saved by any secret. */
export interface UsageTransaction {
  findByDigest(digest: string): PresentedKey | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
}

/** Which key a call charges: the one with this secret, or with this id. */
export type UsageSubject =
  | { readonly digest: string; readonly keyId?: undefined }
  | { readonly keyId: string; readonly digest?: undefined };

/** Creates the storage of usage, whose charges and updates share transactions; `findByDigest` only reads. */
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
