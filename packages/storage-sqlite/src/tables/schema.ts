import type { SqlSchema } from "@petstore/storage-sql";
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

/** The tables as the newest migration leaves them. Times are milliseconds since the Unix epoch. */
export interface Schema extends SqlSchema {
  /** SQLite's own table: the greatest id that AUTOINCREMENT has used, by table. */
  readonly sqlite_sequence: { readonly name: string; readonly seq: bigint };
  readonly sqlite_schema: SchemaTable;
  /** One row, whose revision changes with every change of `pets`, by any program. */
  readonly pets_revision: { readonly only: number; readonly revision: number };
  readonly petstore_migrations: MigrationsTable;
}

/** SQLite's own table: each table, index and trigger. */
interface SchemaTable {
  readonly name: string;
  /** The table that it belongs to. */
  readonly tbl_name: string;
  readonly type: "table" | "index" | "trigger" | "view";
  /** How it was created, for a table of ours. */
  readonly sql: string;
}

export interface MigrationsTable {
  readonly number: number;
  readonly name: string;
  /** 1 if older versions of this package cannot use the tables after it, else 0. */
  readonly breaking: number;
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
