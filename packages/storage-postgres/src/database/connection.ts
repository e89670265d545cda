import { createHash } from "node:crypto";
import { compile, type BuildQuery, type Integers, type Tuple } from "@petstore/storage-sql";
import { sql, type Kysely, type RawBuilder } from "kysely";
import { createQueries, type Schema } from "../tables/schema.js";
import type { Database, Statement } from "./database.js";

/** Prepares statements on the tables of one schema. */
export interface Connection {
  readonly database: Database;
  /** The full name of a table, for a query that is written as text. */
  readonly table: (name: keyof Schema) => RawBuilder<unknown>;
  /** A call of a function of this schema. */
  readonly callOf: (name: string) => RawBuilder<unknown>;
  /** Prepares a statement that writes. */
  readonly prepare: Prepare;
  /** Prepares a query that only reads. It fails on a standby: a pooler's connection may lead there at any time. */
  readonly select: Prepare;
}

/** Prepares a statement that has to return exactly these columns first, for the type of its rows. */
type Prepare = <Argument, Row, const Columns extends readonly string[]>(
  columns: Columns,
  build: BuildQuery<Schema, Argument, Row>,
  integers?: Integers,
) => Select<Argument, Tuple<Row, Columns>>;

/** A prepared statement, which may get a timeout of its own, in milliseconds. Rejects with PostgreSQL's errors. */
export type Select<Argument, Row> = (
  argument: Argument,
  timeout?: number,
) => Promise<readonly Row[]>;

/** Creates the connection to the tables of a schema. */
export function createConnection(database: Database, schema: string): Connection {
  const queries: Kysely<Schema> = createQueries(schema);
  const preparing =
    (wrap: (source: string) => string): Prepare =>
    (_columns, build, integers = "number") => {
      const { source, bind } = compile(queries, build);
      const statement = named(wrap(source));
      return (argument, timeout) => database.query(statement, bind(argument), integers, timeout);
    };
  // A standby refuses to lock rows (25006), even where a condition never holds, so that no row is locked. Each charge
  // needs `writers`, so that no other table stops it.
  const onPrimary = `not exists (select from "${schema}".writers where false for key share)`;
  return {
    database,
    table: (name) => sql.id(schema, name),
    callOf: (name) => sql`${sql.id(schema, name)}()`,
    prepare: preparing((source) => source),
    select: preparing((source) => `select * from (${source}) as found where ${onPrimary}`),
  };
}

/** Two storages may share a host's pool, so that a name must depend on the whole text. */
function named(text: string): Statement {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name: `petstore_${digest}`, text };
}
