import type { PetStatus } from "@petstore/core";
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

/** SQLite's own: the highest id that AUTOINCREMENT has given out or seen, for each table. */
export interface SequenceTable {
  readonly name: string;
  readonly seq: bigint;
}

/** One row, whose revision is another number after every change of `pets`, whoever made it. */
export interface PetsRevisionTable {
  readonly only: number;
  readonly revision: number;
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

export interface UsageColumns {
  readonly minute_opened_at: number;
  readonly minute_used: number;
  readonly day_opened_at: number;
  readonly day_used: number;
  readonly refusals: number;
  readonly bans: number;
  readonly banned_at: number;
  readonly last_used_at: number;
}

export interface MigrationsTable {
  readonly number: number;
  readonly name: string;
}

/** A kysely that writes queries and runs none. */
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
