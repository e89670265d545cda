import type { StoredApiKey, Usage } from "@petstore/core/storage";
import type { Tuple } from "./query.js";
import {
  keysOf,
  LIMIT_COLUMNS,
  limitValues,
  toLimitsAndUsage,
  USAGE_COLUMNS,
  type ApiKeysTable,
  type UsageRow,
} from "./schema.js";

/** A key without its secrets, which have a table of their own. */
export type BareKey = Omit<StoredApiKey, "secrets">;

export interface KeysAfter {
  readonly count: number;
  readonly after: string;
}

/** The columns of a key and its usage, in the order that `toKeyWithUsage` reads. */
export const KEY_COLUMNS = [
  "id",
  "plan",
  "label",
  "created_at",
  "expires_at",
  "revoked_at",
  ...LIMIT_COLUMNS,
  ...USAGE_COLUMNS,
] as const;

export type KeyRow = Tuple<ApiKeysTable & UsageRow, typeof KEY_COLUMNS>;

export const keyValues: {
  readonly [Column in keyof ApiKeysTable]: (key: BareKey) => ApiKeysTable[Column];
} = {
  id: ({ id }) => id,
  plan: ({ plan }) => plan,
  ...limitValues,
  label: ({ label }) => label ?? null,
  created_at: ({ createdAt }) => createdAt,
  expires_at: ({ expiresAt }) => expiresAt ?? null,
  revoked_at: ({ revokedAt }) => revokedAt ?? null,
};

export const keyColumns = keysOf(keyValues);

/** Returns the key and the usage in a row; a key that was never used has `NO_USAGE`. */
export function toKeyWithUsage([
  id,
  plan,
  label,
  createdAt,
  expiresAt,
  revokedAt,
  ...numbers
]: KeyRow): { readonly key: BareKey; readonly usage: Usage } {
  const { limits, usage } = toLimitsAndUsage(numbers);
  return {
    key: {
      id,
      plan,
      limits,
      label: label ?? undefined,
      createdAt,
      expiresAt: expiresAt ?? undefined,
      revokedAt: revokedAt ?? undefined,
    },
    usage,
  };
}
