import { sql, type CompiledQuery, type Kysely, type RawBuilder } from "kysely";

/** Stands in a query for a value that each run reads from its argument. */
export interface Parameter<Argument> {
  <Name extends keyof Argument & string>(name: Name): RawBuilder<Argument[Name]>;
  of<Value>(read: (argument: Argument) => Value): RawBuilder<Value>;
}

/** Builds a query with kysely. Called once, when the query is prepared. */
export type BuildQuery<Schema, Argument, Row> = (
  queries: Kysely<Schema>,
  value: Parameter<Argument>,
) => { compile(queries: Kysely<Schema>): CompiledQuery<Row> };

/** How a statement reads integers: `number`, exact up to 2^53−1, or `bigint`, exact in all of int64. */
export type Integers = "number" | "bigint";

export type Tuple<Row, Columns extends readonly string[]> = {
  readonly [Index in keyof Columns]: Columns[Index] extends keyof Row ? Row[Columns[Index]] : never;
};

/** Returns the query as text, with a function that returns the values to bind for a run. */
export function compile<Schema, Argument, Row>(
  queries: Kysely<Schema>,
  build: BuildQuery<Schema, Argument, Row>,
) {
  const reads = new Map<unknown, (argument: Argument) => unknown>();
  const of = <Value>(read: (argument: Argument) => Value): RawBuilder<Value> => {
    const mark = { read };
    reads.set(mark, read);
    return sql`${mark}`;
  };
  const named = <Name extends keyof Argument & string>(name: Name): RawBuilder<Argument[Name]> =>
    of((argument) => argument[name]);

  const query = build(queries, Object.assign(named, { of })).compile(queries);
  const values = query.parameters.map((value) => reads.get(value) ?? (() => value));
  return {
    source: query.sql,
    bind: (argument: Argument): unknown[] => values.map((read) => read(argument)),
  };
}
