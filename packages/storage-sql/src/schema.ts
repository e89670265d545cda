import type { Pet, RateLimits } from "@petstore/core";
import type { StoredApiKey, Usage } from "@petstore/core/storage";
import type { EachField } from "@petstore/core/internal";

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
export interface ApiKeysTable {
  readonly id: string;
  readonly plan: string;
  readonly per_minute: number;
  readonly per_day: number;
  readonly label: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

/** A key without its secrets, which have a table of their own. */
export type BareKey = Omit<StoredApiKey, "secrets">;

export const keyValues: {
  readonly [Column in keyof ApiKeysTable]: (key: BareKey) => ApiKeysTable[Column];
} = {
  id: ({ id }) => id,
  plan: ({ plan }) => plan,
  per_minute: ({ limits }) => limits.perMinute,
  per_day: ({ limits }) => limits.perDay,
  label: ({ label }) => label ?? null,
  created_at: ({ createdAt }) => createdAt,
  expires_at: ({ expiresAt }) => expiresAt ?? null,
  revoked_at: ({ revokedAt }) => revokedAt ?? null,
};

export const keyColumns = keysOf(keyValues);

/** The columns of the limits, in the order that `toLimitsAndUsage` reads. */
export const LIMIT_COLUMNS = ["per_minute", "per_day"] as const;

export interface ApiKeySecretsTable {
  readonly digest: string;
  readonly key_id: string;
  /** 0 for the newest secret of the key, then counting up. */
  readonly position: number;
  readonly hint: string;
  readonly expires_at: number | null;
}

/** One row for each API key that was used. */
export interface ApiKeyUsageTable extends UsageColumns {
  readonly key_id: string;
}

type UsageColumns = { readonly [Field in keyof Usage as (typeof usageColumns)[Field]]: number };

/** All queries of usage are derived from this list, and `toUsage` reads the values in its order. */
export const usageColumns = {
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

export const USAGE_COLUMNS = Object.values(usageColumns);

/** The values of these columns in a left join: null if no usage is stored yet. */
export type UsageRow = Record<(typeof USAGE_COLUMNS)[number], number | null>;

export const usageFields = keysOf(usageColumns);

export function toLimitsAndUsage([perMinute, perDay, ...usage]: readonly [
  number,
  number,
  ...(number | null)[],
]): { readonly limits: RateLimits; readonly usage: Usage } {
  const limits = { perMinute, perDay } satisfies EachField<RateLimits>;
  return { limits, usage: toUsage(usage) };
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

export const newPetFields = keysOf(petColumns).filter((field) => field !== "id");

export function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  return Object.keys(table).filter((name): name is keyof T & string => name in table);
}
