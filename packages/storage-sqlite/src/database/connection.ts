import type { Integers, Tuple } from "@petstore/storage-sql";
import type { Kysely } from "kysely";
import {
  createTransactions,
  type TransactionOptions,
  type Transactions,
} from "../commit/transactions.js";
import { createQueries, type Schema } from "../tables/schema.js";
import type { SqliteDatabase } from "./sqlite-database.js";
import { prepareChange, prepareSelect, type BuildQuery, type Select } from "./statement.js";

/** One connection to a database. Its members throw SQLite's errors. */
export interface Connection extends Transactions {
  readonly database: SqliteDatabase;
  /** Builds and compiles queries; does not run them. */
  readonly queries: Kysely<Schema>;
  /** Prepares a query that changes rows. */
  change<Argument>(build: BuildQuery<Argument, unknown>): (argument: Argument) => void;
  /** Prepares a query that selects exactly these columns. */
  select<Argument, Row, const Columns extends readonly string[]>(
    columns: Columns,
    build: BuildQuery<Argument, Row>,
    integers?: Integers,
  ): Select<Argument, Tuple<Row, Columns>>;
}

/** Creates the connection over an open database. */
export function createConnection(
  database: SqliteDatabase,
  options: TransactionOptions,
): Connection {
  const queries = createQueries();
  return {
    database,
    queries,
    change: (build) => prepareChange(database, queries, build),
    select: (columns, build, integers) =>
      prepareSelect(database, queries, columns, build, integers),
    ...createTransactions(database, options),
  };
}
