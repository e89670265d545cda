import type { CompiledQuery, Kysely, SchemaModule } from "kysely";
import type { Schema } from "../tables/schema.js";

/** One step of the schema, forward only. Once released, a migration never changes. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly number: number;
  readonly name: string;
  /** The statements in order, untyped because later migrations change the types of the schema. */
  readonly statements: (schema: SchemaModule) => readonly Ddl[];
}

/** A statement that has no parameters, from kysely's schema builder or its `sql` tag. */
export interface Ddl {
  compile(queries: Kysely<Schema>): CompiledQuery;
}
