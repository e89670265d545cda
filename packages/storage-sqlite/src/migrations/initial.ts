import { sql, type SchemaModule } from "kysely";
import type { Ddl, Migration } from "./migration.js";

/**
 * Random, not a count: a count would repeat after a rollback or a restored backup. 53 of SQLite's 64 random bits fit
 * into a JavaScript number.
 */
const RANDOM = sql`random() >> 11`;

/** The changes of `pets` that renew the revision, each by a trigger. */
const CHANGES = ["insert", "update", "delete"] as const;

const triggerAfter = (change: (typeof CHANGES)[number]): string => `pets_revision_after_${change}`;

/** The names of the triggers on `pets`. */
export const PETS_TRIGGERS = CHANGES.map(triggerAfter);

/** Creates pets, API keys with the digests of their secrets, and the usage of the keys. */
export const initial: Migration = {
  number: 1,
  name: "initial",
  breaking: true,
  statements: (schema) => [
    pets(schema),
    ...petsRevision(schema),
    apiKeys(schema),
    apiKeySecrets(schema),
    apiKeyUsage(schema),
  ],
  attached: [
    // Every index of SQLite ends in the rowid, which is the id, so a page by status is read in order.
    sql`create index if not exists main.pets_by_status on pets (status)`,
    ...CHANGES.map(renewAfter),
    sql`create unique index if not exists main.api_key_secrets_by_key on api_key_secrets (key_id, position)`,
    sql`create index if not exists main.api_key_usage_banned on api_key_usage (key_id) where bans > 0`,
  ],
};

function pets(schema: SchemaModule): Ddl {
  return (
    schema
      .createTable("pets")
      // AUTOINCREMENT never reuses the id of a removed pet.
      .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("category_id", "integer", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addCheckConstraint("pets_id_positive", sql`id > 0`)
      // Without IN, for which SQLite would fill a temporary table at every insert.
      .addCheckConstraint(
        "pets_status_known",
        sql`status = 'available' or status = 'pending' or status = 'sold'`,
      )
      .modifyEnd(sql`strict`)
  );
}

function petsRevision(schema: SchemaModule): readonly Ddl[] {
  return [
    schema
      .createTable("pets_revision")
      .addColumn("only", "integer", (column) => column.primaryKey().check(sql`only = 1`))
      .addColumn("revision", "integer", (column) => column.notNull())
      .modifyEnd(sql`strict`),
    sql`insert into main.pets_revision (only, revision) values (1, ${RANDOM})`,
  ];
}

function renewAfter(change: (typeof CHANGES)[number]): Ddl {
  return sql`
    create trigger if not exists main.${sql.id(triggerAfter(change))} after ${sql.raw(change)} on pets
    begin update pets_revision set revision = ${RANDOM}; end`;
}

function apiKeys(schema: SchemaModule): Ddl {
  return schema
    .createTable("api_keys")
    .addColumn("id", "text", (column) => column.primaryKey().check(sql`id <> ''`))
    .addColumn("plan", "text", (column) => column.notNull())
    .addColumn("per_minute", "integer", (column) => column.notNull().check(sql`per_minute > 0`))
    .addColumn("per_day", "integer", (column) => column.notNull().check(sql`per_day > 0`))
    .addColumn("label", "text")
    .addColumn("created_at", "integer", (column) => column.notNull())
    .addColumn("expires_at", "integer")
    .addColumn("revoked_at", "integer")
    .modifyEnd(sql`strict, without rowid`);
}

function apiKeySecrets(schema: SchemaModule): Ddl {
  return schema
    .createTable("api_key_secrets")
    .addColumn("digest", "text", (column) => column.primaryKey())
    .addColumn("key_id", "text", (column) =>
      column.notNull().references("api_keys.id").onDelete("cascade"),
    )
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("hint", "text", (column) => column.notNull())
    .addColumn("expires_at", "integer")
    .modifyEnd(sql`strict, without rowid`);
}

function apiKeyUsage(schema: SchemaModule): Ddl {
  return schema
    .createTable("api_key_usage")
    .addColumn("key_id", "text", (column) =>
      column.primaryKey().references("api_keys.id").onDelete("cascade"),
    )
    .addColumn("minute_opened_at", "integer", (column) => column.notNull())
    .addColumn("minute_used", "integer", (column) => column.notNull().check(sql`minute_used >= 0`))
    .addColumn("day_opened_at", "integer", (column) => column.notNull())
    .addColumn("day_used", "integer", (column) => column.notNull().check(sql`day_used >= 0`))
    .addColumn("refusals", "integer", (column) => column.notNull().check(sql`refusals >= 0`))
    .addColumn("bans", "integer", (column) => column.notNull().check(sql`bans >= 0`))
    .addColumn("banned_at", "integer", (column) => column.notNull())
    .addColumn("last_used_at", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`);
}
