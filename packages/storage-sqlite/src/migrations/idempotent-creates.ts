import { sql } from "kysely";
import type { Migration } from "./migration.js";

/** Creates the table of creations, and adds the start of a row of refusals to the usage. */
export const idempotentCreates: Migration = {
  name: "idempotent creates",
  breaking: false,
  statements: [
    sql`create table main.pet_creations (
      token text primary key,
      pet_id integer not null,
      fingerprint text not null,
      expires_at integer not null
    ) strict, without rowid`,
    sql`alter table main.api_key_usage add column refused_since integer not null default 0`,
  ],
  attached: [
    sql`create index if not exists main.pet_creations_by_expiry on pet_creations (expires_at)`,
  ],
};
