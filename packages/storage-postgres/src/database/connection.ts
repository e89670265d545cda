import { createHash } from "node:crypto";
import { compile, type Integers, type Parameter, type Tuple } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import { createCompiler, type TableName } from "../tables/schema.js";
import type { Database, Statement } from "./database.js";

/** Prepares statements on the tables of one schema. */
export interface Connection {
  readonly table: (name: TableName) => RawBuilder<unknown>;
  readonly callOf: (name: string) => RawBuilder<unknown>;
  /** Prepares a statement that writes. Its text has to return the columns first. */
  readonly prepare: Prepare;
  /**
   * Prepares a query that only reads, and takes these columns out of what it selects. It fails on a standby: a pooler's
   * connection may lead there at any time.
   */
  readonly select: Prepare;
}

/** Prepares a statement. Its columns are named once, for its text and for the type of its rows. */
type Prepare = <Argument, Row, const Names extends readonly (keyof Row & string)[]>(
  names: Names,
  build: BuildText<Argument, Row>,
  integers?: Integers,
) => Select<Argument, Tuple<Row, Names>>;

type BuildText<Argument, Row> = (
  value: Parameter<Argument>,
  columns: RawBuilder<unknown>,
) => RawBuilder<Row>;

/** A prepared statement, which may get a timeout of its own, in milliseconds. Rejects with PostgreSQL's errors. */
export type Select<Argument, Row> = (
  argument: Argument,
  timeout?: number,
) => Promise<readonly Row[]>;

export function createConnection(database: Database, schema: string): Connection {
  const compiler = createCompiler();
  const table = (name: TableName) => sql.id(schema, name);
  // A standby refuses to lock rows (25006), even where a condition never holds, so that no row is locked. Each charge
  // needs `writers`, so that no other table stops it.
  const onPrimary = sql`not exists (select from ${table("writers")} where false for key share)`;
  const preparing =
    (
      wrap: (text: RawBuilder<unknown>, columns: RawBuilder<unknown>) => RawBuilder<unknown>,
    ): Prepare =>
    <Argument, Row>(
      names: readonly string[],
      build: BuildText<Argument, Row>,
      integers: Integers = "number",
    ) => {
      const columns = columnsOf(names);
      const { source, bind } = compile(compiler, (_, value: Parameter<Argument>) =>
        wrap(build(value, columns), columns),
      );
      const statement = named(source);
      return <T>(argument: Argument, timeout?: number) =>
        database.query<T>(statement, bind(argument), integers, timeout);
    };
  return {
    table,
    callOf: (name) => sql`${sql.id(schema, name)}()`,
    prepare: preparing((text) => text),
    select: preparing(
      (text, columns) => sql`select ${columns} from (${text}) as found where ${onPrimary}`,
    ),
  };
}

export function columnsOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)));
}

/** Two storages may share a host's pool, so that a name must depend on the whole text. */
function named(text: string): Statement {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name: `petstore_${digest}`, text };
}
