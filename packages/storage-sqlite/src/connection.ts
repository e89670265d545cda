import type { Kysely } from "kysely";
import type { Schema } from "./schema.js";
import type { SqliteDatabase } from "./sqlite-database.js";
import { prepareStatement, type Integers, type Statement, type WriteQuery } from "./statement.js";
import { createTransactions, type Transactions } from "./transactions.js";

/** One connection to a database. Its members throw what SQLite throws. */
export interface Connection extends Transactions {
  readonly database: SqliteDatabase;
  /** Prepares a query; integers are read as `number` unless told. */
  prepare<Values, Row>(write: WriteQuery<Values, Row>, integers?: Integers): Statement<Values, Row>;
}

/** A connection over an open database. */
export function createConnection(database: SqliteDatabase, queries: Kysely<Schema>): Connection {
  return {
    database,
    prepare: (write, integers = "number") => prepareStatement(database, queries, write, integers),
    ...createTransactions(database),
  };
}
