import type { CompiledQuery, Kysely, SchemaModule } from "kysely";
import type { Schema } from "../tables/schema.js";

/** One step of the schema, forward only. Once released it never changes: the next step does. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly number: number;
  readonly name: string;
  /** What to execute, in order; written without the types of a schema that later steps change. */
  readonly statements: (schema: SchemaModule) => readonly Ddl[];
}

/** A statement that has no parameters, from kysely's schema builder or its `sql` tag. */
export interface Ddl {
  compile(queries: Kysely<Schema>): CompiledQuery;
}
