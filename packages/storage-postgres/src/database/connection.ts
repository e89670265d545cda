import { createHash } from "node:crypto";
import { compile } from "@petstore/storage-sql";
import type { Integers, Parameter, SqlSchema, Tuple } from "@petstore/storage-sql";
import { Kysely, PostgresDialect, sql, type RawBuilder } from "kysely";
import type { Database } from "./database.js";

export const TABLES = [
  "pets",
  "inventory",
  "writers",
  "pet_creations",
  "api_keys",
  "api_key_secrets",
  "api_key_usage",
] as const;

/** A prepared statement, which may get a timeout of its own, in milliseconds. Rejects with PostgreSQL's errors. */
export type Prepared<Given, Row> = (given: Given, timeout?: number) => Promise<readonly Row[]>;

export type Connection = ReturnType<typeof createConnection>;

export function createConnection(database: Database, schema: string) {
  const pool = () => Promise.reject(new Error("This kysely only compiles."));
  const compiler = new Kysely<SqlSchema>({ dialect: new PostgresDialect({ pool }) });
  const table = (name: (typeof TABLES)[number]) => sql.id(schema, name);
  // A standby refuses to lock rows (25006), even where a condition never holds, so that no row is locked. Each charge
  // needs `writers`, so that no other table stops it.
  const onPrimary = sql`not exists (select from ${table("writers")} where false for key share)`;
  /** A statement's columns are named once, for its text and for the type of its rows. */
  const preparing =
    (reads: boolean) =>
    <Argument, Row, const Names extends readonly (keyof Row & string)[]>(
      names: Names,
      build: (value: Parameter<Argument>, columns: RawBuilder<unknown>) => RawBuilder<Row>,
      integers?: Integers,
    ): Prepared<Argument, Tuple<Row, Names>> => {
      const columns = columnsOf(names);
      const { source: text, bind } = compile(compiler, (_, value: Parameter<Argument>) => {
        const built = build(value, columns);
        return reads ? sql`select ${columns} from (${built}) as found where ${onPrimary}` : built;
      });
      // Two storages may share a host's pool, so that the name must depend on the whole text.
      const hash = createHash("sha256").update(text).digest("hex");
      const statement = { name: `petstore_${hash.slice(0, 16)}`, text };
      return (argument, timeout) => database.query(statement, bind(argument), integers, timeout);
    };
  return {
    table,
    currentTimeline: sql`${sql.id(schema, "current_timeline")}()`,
    /** Prepares a statement that writes. Its text has to return the columns first. */
    prepare: preparing(false),
    /**
     * Prepares a query that only reads, and takes these columns out of what it selects. It fails on a standby: a pooler's
     * connection may lead there at any time.
     */
    select: preparing(true),
  };
}

export function columnsOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)));
}
