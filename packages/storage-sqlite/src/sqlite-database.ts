/**
 * What this package needs of a better-sqlite3 `Database`, so that its users need no types but these.
 * A host passes its own `Database`; it fits as it is.
 */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare<Row>(source: string): SqliteStatement<Row>;
  exec(source: string): unknown;
  pragma(source: string, options?: { readonly simple?: boolean }): unknown;
}

/** What this package needs of a better-sqlite3 `Statement`. */
export interface SqliteStatement<Row> {
  get(values: readonly unknown[]): Row | undefined;
  all(values: readonly unknown[]): Row[];
  run(values: readonly unknown[]): { readonly lastInsertRowid: number | bigint };
  safeIntegers(on: boolean): unknown;
  raw(on: boolean): unknown;
  columns(): readonly { readonly name: string }[];
}
