import type { PetStatus, Usage } from "@petstore/core";
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Generated,
} from "kysely";

/** The tables as the newest migration leaves them. Times are milliseconds since the Unix epoch. */
export interface Schema {
  readonly pets: PetsTable;
  readonly sqlite_sequence: SequenceTable;
  readonly pets_revision: PetsRevisionTable;
  readonly pet_creations: PetCreationsTable;
  readonly api_keys: ApiKeysTable;
  readonly api_key_secrets: ApiKeySecretsTable;
  readonly api_key_usage: ApiKeyUsageTable;
  readonly petstore_migrations: MigrationsTable;
}

export interface PetsTable {
  readonly id: Generated<bigint>;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: PetStatus;
}

/** SQLite's own table: the greatest id that AUTOINCREMENT has used, by table. */
export interface SequenceTable {
  readonly name: string;
  readonly seq: bigint;
}

/** One row, whose revision changes with every change of `pets`, by any program. */
export interface PetsRevisionTable {
  readonly only: number;
  readonly revision: number;
}

/** Creations that are remembered, so that a retry does not add a second pet. */
export interface PetCreationsTable {
  readonly token: string;
  readonly pet_id: bigint;
  readonly fingerprint: string;
  /** A bigint like the id: a statement reads all integers of a row alike. */
  readonly expires_at: bigint;
}

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

export interface ApiKeySecretsTable {
  readonly digest: string;
  readonly key_id: string;
  /** 0 for the newest secret of the key, then counting up. */
  readonly position: number;
  readonly hint: string;
  readonly expires_at: number | null;
}

export interface ApiKeyUsageTable extends UsageColumns {
  readonly key_id: string;
}

type UsageColumns = { readonly [Field in keyof Usage as (typeof usageColumns)[Field]]: number };

/** The column of each field of a `Usage`. All queries and mappings are derived from this list. */
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

/** The fields of a `Usage`, in the order of their columns. */
export const usageFields = Object.keys(usageColumns).filter(isUsageField);

function isUsageField(name: string): name is keyof Usage {
  return name in usageColumns;
}

export interface MigrationsTable {
  readonly number: number;
  readonly name: string;
}

/** Creates a kysely that builds and compiles queries but cannot run them. */
export function createQueries(): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}
