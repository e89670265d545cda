import type { Kysely } from "kysely";
import type { Schema } from "./schema.js";
import type { SqliteDatabase } from "./sqlite-database.js";
import {
  prepareStatement,
  prepareTuples,
  type Integers,
  type Statement,
  type Tuple,
  type WriteQuery,
} from "./statement.js";
import { createTransactions, type Transactions } from "./transactions.js";

/** One connection to a database. Its members throw what SQLite throws. */
export interface Connection extends Transactions {
  readonly database: SqliteDatabase;
  /** Prepares a query; integers are read as `number` unless told. */
  prepare<Values, Row>(write: WriteQuery<Values, Row>, integers?: Integers): Statement<Values, Row>;
  /** The same for a query that selects these columns; its rows are tuples. */
  prepareTuples<Values, Row, const Columns extends readonly string[]>(
    write: WriteQuery<Values, Row>,
    columns: Columns,
    integers?: Integers,
  ): Statement<Values, Tuple<Row, Columns>>;
}

/** A connection over an open database. `beforeCommit` may throw, to undo a transaction that has written. */
export function createConnection(
  database: SqliteDatabase,
  queries: Kysely<Schema>,
  beforeCommit?: () => void,
): Connection {
  return {
    database,
    prepare: (write, integers = "number") => prepareStatement(database, queries, write, integers),
    prepareTuples: (write, columns, integers = "number") =>
      prepareTuples(database, queries, write, columns, integers),
    ...createTransactions(database, beforeCommit),
  };
}
