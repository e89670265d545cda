import type { SqlSchema } from "@petstore/storage-sql";
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

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
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}
