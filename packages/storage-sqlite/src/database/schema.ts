import type { SqlSchema } from "@petstore/storage-sql";

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
