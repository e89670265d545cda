import type { Decide, PresentedKey, Usage, UsageStorage } from "@petstore/core/storage";
import type { GroupCommit } from "./commit/group-commit.js";
import type { Tuple } from "./query.js";
import {
  LIMIT_COLUMNS,
  toLimitsAndUsage,
  USAGE_COLUMNS,
  type ApiKeysTable,
  type UsageRow,
} from "./schema.js";

/** The columns of a presented key, in the order that `toPresentedKey` reads. */
export const PRESENTED_KEY_COLUMNS = [
  "id",
  "plan",
  "expires_at",
  "revoked_at",
  "secret_expires_at",
  ...LIMIT_COLUMNS,
  ...USAGE_COLUMNS,
] as const;

type PresentedKeyRow = ApiKeysTable & UsageRow & { readonly secret_expires_at: number | null };

export function toPresentedKey([id, plan, expiresAt, revokedAt, secretExpiresAt, ...numbers]: Tuple<
  PresentedKeyRow,
  typeof PRESENTED_KEY_COLUMNS
>): PresentedKey {
  const { limits, usage } = toLimitsAndUsage(numbers);
  return {
    key: {
      id,
      plan,
      limits,
      expiresAt: expiresAt ?? undefined,
      revokedAt: revokedAt ?? undefined,
    },
    secretExpiresAt: secretExpiresAt ?? undefined,
    usage,
  };
}

/** Reads one key's usage: from a table, or from the rows that were read for a transaction. */
export interface UsageReader {
  findByDigest(digest: string): PresentedKey | undefined;
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
    charge: (digest, decide) =>
      charging.add("Charging an API key", charge(digest, decide), { digest }),
    update: (keyId, decide) =>
      charging.add("Changing the usage of an API key", update(keyId, decide), { keyId }),
  };
}

function charge<Value>(digest: string, decide: Decide<PresentedKey | undefined, Usage, Value>) {
  return (transaction: UsageTransaction): Value => {
    const presented = transaction.findByDigest(digest);
    const { next, result } = decide(presented);
    if (presented && next && next !== presented.usage) transaction.save(presented.key.id, next);
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
