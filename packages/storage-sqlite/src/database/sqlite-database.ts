/**
 * The part of a better-sqlite3 `Database` that this package uses. Its users therefore do not need the
 * types of better-sqlite3; a host's own `Database` has this type.
 */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare<Row>(source: string): SqliteStatement<Row>;
  exec(source: string): unknown;
  pragma(source: string, options?: { readonly simple?: boolean }): unknown;
}

/** The part of a better-sqlite3 `Statement` that this package uses. */
export interface SqliteStatement<Row> {
  get(values: readonly unknown[]): Row | undefined;
  all(values: readonly unknown[]): Row[];
  run(values: readonly unknown[]): unknown;
  safeIntegers(on: boolean): unknown;
  raw(on: boolean): unknown;
  columns(): readonly { readonly name: string }[];
}
