/** One step of the schema, forward only. Once released, a migration never changes. */
export interface Migration {
  readonly name: string;
  /** Whether older versions of this package cannot use the tables after it. */
  readonly breaking: boolean;
  /** Returns the statements, for a schema whose name is quoted. */
  readonly statements: (schema: string) => string;
}
