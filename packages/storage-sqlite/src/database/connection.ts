import { compile, type BuildQuery, type Integers, type Tuple } from "@petstore/storage-sql";
import type { Kysely } from "kysely";
import {
  createTransactions,
  type TransactionOptions,
  type Transactions,
} from "../commit/transactions.js";
import { createQueries, type Schema } from "../tables/schema.js";
import type { SqliteDatabase } from "./driver.js";

/** One connection to a database. Its members throw SQLite's errors. */
export interface Connection extends Transactions {
  readonly database: SqliteDatabase;
  /** Builds and compiles queries; does not run them. */
  readonly queries: Kysely<Schema>;
  change<Argument>(build: BuildQuery<Schema, Argument, unknown>): (argument: Argument) => void;
  /** Prepares a query that selects exactly these columns. */
  select<Argument, Row, const Columns extends readonly string[]>(
    columns: Columns,
    build: BuildQuery<Schema, Argument, Row>,
    integers?: Integers,
  ): Select<Argument, Tuple<Row, Columns>>;
}

export interface Select<Argument, Row> {
  get(argument: Argument): Row | undefined;
  all(argument: Argument): readonly Row[];
  /** Reads row after row. Until the last one is read, or the iteration is ended, the connection runs nothing else. */
  iterate(argument: Argument): Iterable<Row>;
}

export function createConnection(
  database: SqliteDatabase,
  options: TransactionOptions,
): Connection {
  // A temporary table of the host's with the same name would come first.
  const queries = createQueries().withSchema("main");
  return {
    database,
    queries,
    change: (build) => {
      const { source, bind } = compile(queries, build);
      const statement = database.prepare(source);
      return (argument) => void statement.run(bind(argument));
    },
    // Tuples cost a third less than objects.
    select: <Argument, Row, const Columns extends readonly string[]>(
      columns: Columns,
      build: BuildQuery<Schema, Argument, Row>,
      integers: Integers = "number",
    ): Select<Argument, Tuple<Row, Columns>> => {
      const { source, bind } = compile(queries, build);
      const statement = database.prepare<Tuple<Row, Columns>>(source);
      const selected = statement.columns().map(({ name }) => name);
      if (selected.join() !== columns.join())
        throw new TypeError(`The query selects ${selected.join()}`);
      statement.safeIntegers(integers === "bigint");
      statement.raw(true);
      return {
        get: (argument) => statement.get(bind(argument)),
        all: (argument) => statement.all(bind(argument)),
        iterate: (argument) => statement.iterate(bind(argument)),
      };
    },
    ...createTransactions(database, options),
  };
}
