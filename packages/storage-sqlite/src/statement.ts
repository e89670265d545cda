import { sql, type Compilable, type Kysely, type RawBuilder } from "kysely";
import type { Schema } from "./schema.js";
import type { SqliteDatabase } from "./sqlite-database.js";

/** Stands in a query for the value that each run brings under this name. */
export type Place<Values> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Values[Name]>;

/** Writes a query with kysely: once, when it is prepared. */
export type WriteQuery<Values, Row> = (
  queries: Kysely<Schema>,
  value: Place<Values>,
) => Compilable<Row>;

/** How a statement reads integers: `number`, exact up to 2^53−1, or `bigint`, exact in all of int64. */
export type Integers = "number" | "bigint";

/** A query compiled and prepared once, run many times. Each run throws what SQLite throws. */
export interface Statement<Values, Row> {
  /** The first row, if any. */
  get(values: Values): Row | undefined;
  all(values: Values): readonly Row[];
  /** Runs it for its effect; answers the rowid of the last row inserted. */
  run(values: Values): number | bigint;
}

/** Has kysely write a query, and prepares it on a database. */
export function prepareStatement<Values, Row>(
  database: SqliteDatabase,
  queries: Kysely<Schema>,
  write: WriteQuery<Values, Row>,
  integers: Integers,
): Statement<Values, Row> {
  const names = new Map<unknown, keyof Values>();
  const place: Place<Values> = (name) => {
    const mark = { name };
    names.set(mark, name);
    return sql`${mark}`;
  };

  const query = write(queries, place).compile();
  const prepared = database.prepare<Row>(query.sql);
  prepared.safeIntegers(integers === "bigint");

  const parameters = query.parameters.map((value) => ({ value, name: names.get(value) }));
  const bind = (values: Values): unknown[] =>
    parameters.map(({ value, name }) => (name === undefined ? value : values[name]));
  return {
    get: (values) => prepared.get(bind(values)),
    all: (values) => prepared.all(bind(values)),
    run: (values) => prepared.run(bind(values)).lastInsertRowid,
  };
}
