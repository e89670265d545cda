/** One step of the schema, forward only. Once released, a migration never changes. */
export interface Migration {
  readonly name: string;
  /** Whether older versions of this package cannot use the tables after it. */
  readonly breaking: boolean;
  /** `:schema` stands for the schema's name, quoted. */
  readonly statements: string;
}
