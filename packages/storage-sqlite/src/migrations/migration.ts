import type { RawBuilder } from "kysely";

/** One step of the schema, forward only. Once released, a migration never changes. */
export interface Migration {
  readonly name: string;
  /**
   * Whether older versions of this package, also running ones, cannot use the tables after it. They can if it only adds
   * tables, indexes, and columns that may be null or have a default.
   */
  readonly breaking: boolean;
  /** The statements in order, as text because later migrations change the types of the schema. */
  readonly statements: readonly RawBuilder<unknown>[];
  /** The indexes and triggers on its tables, each `if not exists`: another program that rebuilds a table removes them. */
  readonly attached?: readonly RawBuilder<unknown>[];
}

export interface MigrationsTable {
  readonly number: number;
  readonly name: string;
  /** 1 if older versions of this package cannot use the tables after it, else 0. */
  readonly breaking: number;
}
