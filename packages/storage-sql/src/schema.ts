import type { Pet, RateLimits } from "@petstore/core";
import { NO_USAGE, type ApiKeySecret, type NewPet } from "@petstore/core/storage";
import type { PresentedKey, StoredApiKey, Usage } from "@petstore/core/storage";
import { keysOf } from "@petstore/core/facts";
import { petOf, type EachField } from "@petstore/core/internal";
import type { Tuple } from "./query.js";

/** The tables that every SQL storage has. Times are milliseconds since the Unix epoch. */
export interface SqlSchema {
  readonly pets: PetsTable;
  readonly pet_creations: PetCreationsTable;
  readonly api_keys: ApiKeysTable;
  readonly api_key_secrets: ApiKeySecretsTable;
  readonly api_key_usage: ApiKeyUsageTable;
}

/** The column of each field of a pet, and its type in PostgreSQL. Writes are derived from it; reads from `PET_COLUMNS`. */
export const petColumns = {
  id: { column: "id", type: "bigint" },
  name: { column: "name", type: "text" },
  categoryId: { column: "category_id", type: "bigint" },
  status: { column: "status", type: "text" },
} as const satisfies EachField<
  Record<keyof Pet, { readonly column: string; readonly type: "bigint" | "text" }>
>;

/** One row for each pet; null where it does not have a field. */
export type PetsTable = {
  readonly [Field in keyof Pet as (typeof petColumns)[Field]["column"]]-?: OrNull<Pet[Field]>;
};

/** The columns of a pet, in the order that `toPet` reads. */
export const PET_COLUMNS = ["id", "name", "category_id", "status"] as const;

export function toPet([id, name, categoryId, status]: Tuple<PetsTable, typeof PET_COLUMNS>): Pet {
  return petOf(id, { name, categoryId, status } satisfies EachField<NewPet>);
}

export const newPetFields = keysOf(petColumns).filter((field) => field !== "id");

type OrNull<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value;

/** Creations that are remembered, so that a retry does not add a second pet. */
export interface PetCreationsTable {
  readonly token: string;
  readonly pet_id: bigint;
  readonly fingerprint: string;
  /** A bigint like the id: a statement reads all integers of a row alike. */
  readonly expires_at: bigint;
}

/** One row for each API key that was not purged, revoked and expired ones too. */
export type ApiKeysTable = {
  readonly [Column in keyof typeof keyValues]: ReturnType<(typeof keyValues)[Column]>;
};

export type BareKey = Omit<StoredApiKey, "secrets">;

export const keyValues = {
  id: ({ id }) => id,
  plan: ({ plan }) => plan,
  per_minute: ({ limits }) => limits.perMinute,
  per_day: ({ limits }) => limits.perDay,
  label: ({ label }) => label ?? null,
  created_at: ({ createdAt }) => createdAt,
  expires_at: ({ expiresAt }) => expiresAt ?? null,
  revoked_at: ({ revokedAt }) => revokedAt ?? null,
} satisfies Record<string, (key: BareKey) => string | number | null>;

export const WRITTEN_KEY_COLUMNS = keysOf(keyValues);

export const LIMIT_COLUMNS = ["per_minute", "per_day"] as const;

interface ApiKeySecretsTable {
  readonly digest: string;
  readonly key_id: string;
  /** 0 for the newest secret of the key, then counting up. */
  readonly position: number;
  readonly hint: string;
  readonly expires_at: number | null;
}

/** The columns of a secret, in the order that `toSecret` reads. */
export const SECRET_COLUMNS = ["digest", "hint", "expires_at"] as const;

export function toSecret([digest, hint, expiresAt]: Tuple<
  ApiKeySecretsTable,
  typeof SECRET_COLUMNS
>): ApiKeySecret {
  return { digest, hint, expiresAt: expiresAt ?? undefined };
}

export interface ApiKeyUsageTable extends Readonly<Record<UsageColumn, number>> {
  readonly key_id: string;
}

type UsageColumn = (typeof usageColumns)[keyof Usage];

/** All queries of usage are derived from this list, and `toUsage` reads the values in its order. */
const usageColumns = {
  minuteOpenedAt: "minute_opened_at",
  minuteUsed: "minute_used",
  dayOpenedAt: "day_opened_at",
  dayUsed: "day_used",
  refusedSince: "refused_since",
  refusals: "refusals",
  bans: "bans",
  bannedAt: "banned_at",
  lastUsedAt: "last_used_at",
} as const satisfies Record<keyof Usage, string>;

export const usageFields = keysOf(usageColumns);

export const USAGE_COLUMNS = Object.values(usageColumns);

type UsageRow = Record<UsageColumn, number | null>;

/** Returns the usage in these values of `USAGE_COLUMNS`, which are null if no usage is stored yet. */
export function toUsage(values: readonly (number | null)[]): Usage {
  const usage = { ...NO_USAGE };
  for (const [index, field] of usageFields.entries()) usage[field] = values[index] ?? 0;
  return usage;
}

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

export function toKeyWithUsage(row: KeyRow): { readonly key: BareKey; readonly usage: Usage } {
  const [id, plan, label, createdAt, expiresAt, revokedAt, perMinute, perDay, ...usage] = row;
  const limits = { perMinute, perDay } satisfies EachField<RateLimits>;
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
    usage: toUsage(usage),
  };
}

/** The columns of a key that a secret was presented for, in the order that `toPresentedKey` reads. */
export const PRESENTED_KEY_COLUMNS = ["secret_expires_at", ...KEY_COLUMNS] as const;

type PresentedKeyRow = ApiKeysTable & UsageRow & { readonly secret_expires_at: number | null };

export function toPresentedKey([secretExpiresAt, ...row]: Tuple<
  PresentedKeyRow,
  typeof PRESENTED_KEY_COLUMNS
>): PresentedKey {
  return { ...toKeyWithUsage(row), secretExpiresAt: secretExpiresAt ?? undefined };
}
