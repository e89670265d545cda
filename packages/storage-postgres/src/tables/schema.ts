import { systemRandom } from "@petstore/core/internal";
import type { ApiKeysTable, ApiKeyUsageTable, SqlSchema } from "@petstore/storage-sql";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";

/** The tables as the newest migration leaves them. Times are milliseconds since the Unix epoch. */
export interface Schema extends SqlSchema {
  readonly inventory: InventoryTable;
  readonly writers: WritersTable;
  readonly api_keys: VersionedApiKeysTable;
  readonly api_key_usage: StampedApiKeyUsageTable;
  readonly migrations: MigrationsTable;
}

/** One row. A statement that adds pets also updates it, so that ids become visible in ascending order. */
export interface InventoryTable {
  /** The greatest id that was ever used. */
  readonly last_id: bigint;
  /** Random; renewed by every change of `pets` but an insert by hand. A counter could repeat after a failover. */
  readonly edits: bigint;
  /** The timeline of the server when the last pet was added. */
  readonly timeline: string;
}

/** One row for each writer, so that it can find out whether a statement was committed. */
export interface WritersTable {
  readonly id: string;
  /** The number of the writer's last statement. */
  readonly seq: number;
  /** What that statement wrote: ids, or positions in its input. */
  readonly written: readonly (bigint | null)[];
  readonly seen_at: Date;
}

/**
 * One row for each API key, with a version for changes that hold only where nothing has changed since.
 */
export interface VersionedApiKeysTable extends ApiKeysTable {
  /** Random; renewed by every change of the key or its secrets. */
  readonly version: string;
}

/** One row for each API key that was used, with a stamp like the version of the key. */
export interface StampedApiKeyUsageTable extends ApiKeyUsageTable {
  /** Random; renewed by every change of the usage or its key. */
  readonly stamp: string;
}

/** One row for each migration that was run. */
export interface MigrationsTable {
  readonly number: number;
  readonly name: string;
  /** Whether older versions of this package cannot use the tables after it. */
  readonly breaking: boolean;
}

/**
 * Whether PostgreSQL can store this text. It refuses U+0000, and a lone surrogate would become U+FFFD. So
 * nothing stored has such a text.
 */
export function isText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** Returns a new version or stamp: a random int8, which no other change of the row has. */
export function randomStamp(): string {
  return Buffer.from(systemRandom(8)).readBigInt64BE().toString();
}

/** Creates a kysely that builds and compiles queries on one schema but cannot run them. */
export function createQueries(schema: string): Kysely<Schema> {
  const queries = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return queries.withSchema(schema);
}
