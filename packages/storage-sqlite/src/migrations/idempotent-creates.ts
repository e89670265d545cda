import { sql } from "kysely";
import type { Migration } from "./migration.js";

/** Creates the table of creations, and adds the start of a row of refusals to the usage. */
export const idempotentCreates: Migration = {
  number: 2,
  name: "idempotent creates",
  breaking: false,
  statements: (schema) => [
    schema
      .createTable("pet_creations")
      .addColumn("token", "text", (column) => column.primaryKey())
      .addColumn("pet_id", "integer", (column) => column.notNull())
      .addColumn("fingerprint", "text", (column) => column.notNull())
      .addColumn("expires_at", "integer", (column) => column.notNull())
      .modifyEnd(sql`strict, without rowid`),
    schema
      .withSchema("main")
      .alterTable("api_key_usage")
      .addColumn("refused_since", "integer", (column) => column.notNull().defaultTo(0)),
  ],
  attached: [
    sql`create index if not exists main.pet_creations_by_expiry on pet_creations (expires_at)`,
  ],
};
