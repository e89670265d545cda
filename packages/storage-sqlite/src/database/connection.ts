import { compile, type BuildQuery, type Integers } from "@petstore/storage-sql";
import type { SqlSchema, Tuple } from "@petstore/storage-sql";
import { Kysely, SqliteDialect } from "kysely";
import { createTransactions, type TransactionOptions } from "../commit/transactions.js";
import type { MigrationsTable } from "../migrations/migration.js";
import type { SqliteDatabase } from "./driver.js";

/** The tables as the newest migration leaves them; not those that are only read by a text. */
export interface Schema extends SqlSchema {
  readonly petstore_migrations: MigrationsTable;
}

/** One connection to a database. Its members throw SQLite's errors. */
export type Connection = ReturnType<typeof createConnection>;

export function createConnection(database: SqliteDatabase, options: TransactionOptions) {
  const none = () => Promise.reject(new Error("This kysely only compiles."));
  const compiler = new Kysely<Schema>({ dialect: new SqliteDialect({ database: none }) });
  // Without a schema, a temporary table of the host's would come first.
  const queries = compiler.withSchema("main");

  const change = <Argument>(build: BuildQuery<Schema, Argument, unknown>) => {
    const { source, bind } = compile(queries, build);
    const statement = database.prepare(source);
    return (argument: Argument): void => void statement.run(bind(argument));
  };
  /** Prepares a query that selects exactly these columns. Its rows are tuples, which cost a third less than objects. */
  const selecting =
    (integers: Integers) =>
    <Argument, Row, const Columns extends readonly string[]>(
      columns: Columns,
      build: BuildQuery<Schema, Argument, Row>,
    ) => {
      const { source, bind } = compile(queries, build);
      const statement = database.prepare<Tuple<Row, Columns>>(source);
      const selected = statement.columns().map(({ name }) => name);
      if (selected.join() !== columns.join())
        throw new TypeError(`The query selects ${selected.join()}`);
      statement.safeIntegers(integers === "bigint");
      statement.raw(true);
      const get = (argument: Argument) => statement.get(bind(argument));
      return {
        get,
        find: <T>(argument: Argument, read: (row: Tuple<Row, Columns>) => T): T | undefined => {
          const row = get(argument);
          return row && read(row);
        },
        all: (argument: Argument): readonly Tuple<Row, Columns>[] => statement.all(bind(argument)),
        /** Reads row after row. Until the last one is read, or the iteration ends, the connection runs nothing else. */
        iterate: (argument: Argument) => statement.iterate(bind(argument)),
      };
    };
  const [select, selectBigints] = [selecting("number"), selecting("bigint")];
  const transactions = createTransactions(database, options);
  return { database, queries, change, select, selectBigints, ...transactions };
}
