import type { SqlSchema } from "@petstore/storage-sql";
import { Kysely, SqliteDialect } from "kysely";

/** The tables as the newest migration leaves them; not those that are only read by a text. */
export interface Schema extends SqlSchema {
  readonly petstore_migrations: MigrationsTable;
}

export interface MigrationsTable {
  readonly number: number;
  readonly name: string;
  /** 1 if older versions of this package cannot use the tables after it, else 0. */
  readonly breaking: number;
}

/** Creates a kysely that builds and compiles queries but cannot run them. */
export function createQueries(): Kysely<Schema> {
  const database = () => Promise.reject(new Error("This kysely only compiles."));
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database }) });
}
