/** One step of the schema, forward only. Once released, a migration never changes. */
export interface Migration {
  readonly name: string;
  /**
   * Whether older versions of this package cannot use the tables after it. If so, it also renames `writers`, which every
   * statement names: servers of older versions that run meanwhile then fail, and store nothing.
   */
  readonly breaking: boolean;
  /** `:schema` stands for the schema's name, quoted. */
  readonly statements: string;
}
