import type { PresentedKey, Usage } from "@petstore/core";
import type { Tuple } from "./query.js";
import { USAGE_COLUMNS, type ApiKeysTable, type Selecting, type UsageRow } from "./schema.js";

/** The columns of a presented key, in the order that `toPresentedKey` reads. */
export const PRESENTED_KEY_COLUMNS = [
  "id",
  "plan",
  "per_minute",
  "per_day",
  "expires_at",
  "revoked_at",
  "secret_expires_at",
  ...USAGE_COLUMNS,
] as const;

type PresentedKeyRow = ApiKeysTable & UsageRow & { readonly secret_expires_at: number | null };

/** Where these columns come from. */
export const PRESENTED_KEY_SELECTION = [
  "key.id",
  "key.plan",
  "key.per_minute",
  "key.per_day",
  "key.expires_at",
  "key.revoked_at",
  "secret.expires_at as secret_expires_at",
  ...USAGE_COLUMNS,
] as const;

/** Joins secrets with their keys and the usage of these. */
export function joinPresentedKeys(queries: Selecting) {
  return queries
    .selectFrom("api_key_secrets as secret")
    .innerJoin("api_keys as key", "key.id", "secret.key_id")
    .leftJoin("api_key_usage as usage", "usage.key_id", "key.id");
}

/** Returns the presented key in a row. */
export function toPresentedKey([
  id,
  plan,
  perMinute,
  perDay,
  expiresAt,
  revokedAt,
  secretExpiresAt,
  ...usage
]: Tuple<PresentedKeyRow, typeof PRESENTED_KEY_COLUMNS>): PresentedKey {
  return {
    key: {
      id,
      plan,
      limits: { perMinute, perDay },
      expiresAt: expiresAt ?? undefined,
      revokedAt: revokedAt ?? undefined,
    },
    secretExpiresAt: secretExpiresAt ?? undefined,
    usage: toUsage(usage),
  };
}

/** Returns the usage in these values of `USAGE_COLUMNS`, which are null if no usage is stored yet. */
export function toUsage([
  minuteOpenedAt,
  minuteUsed,
  dayOpenedAt,
  dayUsed,
  refusedSince,
  refusals,
  bans,
  bannedAt,
  lastUsedAt,
]: readonly (number | null)[]): Usage {
  return {
    minuteOpenedAt: minuteOpenedAt ?? 0,
    minuteUsed: minuteUsed ?? 0,
    dayOpenedAt: dayOpenedAt ?? 0,
    dayUsed: dayUsed ?? 0,
    refusedSince: refusedSince ?? 0,
    refusals: refusals ?? 0,
    bans: bans ?? 0,
    bannedAt: bannedAt ?? 0,
    lastUsedAt: lastUsedAt ?? 0,
  };
}
