import type { Usage } from "@petstore/core/storage";
import type { Tuple } from "./query.js";
import {
  LIMIT_COLUMNS,
  toLimitsAndUsage,
  USAGE_COLUMNS,
  type ApiKeysTable,
  type BareKey,
  type UsageRow,
} from "./schema.js";

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
