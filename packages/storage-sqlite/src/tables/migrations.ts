import type { Parameter } from "@petstore/storage-sql";
import { sql, type CompiledQuery, type Kysely, type SchemaModule } from "kysely";
import type { Connection } from "../database/connection.js";
import { OpenRefusal } from "../database/open-storage-error.js";
import { prepareRebuilt } from "./rebuilt.js";
import { createQueries, type Schema } from "./schema.js";

/** One step of the schema, forward only. Once released, a migration never changes. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly number: number;
  readonly name: string;
  /** The statements in order, untyped because later migrations change the types of the schema. */
  readonly statements: (schema: SchemaModule) => readonly Ddl[];
  /** The indexes and triggers on its tables, each `if not exists`: another program that rebuilds a table removes them. */
  readonly attached?: readonly Ddl[];
}

/** A statement that has no parameters, from kysely's schema builder or its `sql` tag. */
interface Ddl {
  compile(queries: Kysely<Schema>): CompiledQuery;
}

/**
 * Brings the schema up to date in one transaction. Processes that open one file at the same time wait
 * for each other. If a migration fails, the file is unchanged.
 */
export function migrate(connection: Connection, known: readonly Migration[] = migrations): void {
  connection.write("FULL", () => apply(connection, known));
}

/** Throws the error that `migrate` would throw, without changing anything. */
export function refuseUnmigratable(connection: Connection): void {
  try {
    connection.write("FULL", () => {
      apply(connection, migrations);
      throw new EndOfTrial();
    });
  } catch (error) {
    if (!(error instanceof EndOfTrial)) throw error;
  }
}

/** Throws if a read-only database does not have this version's schema. */
export function refuseUnmigrated(connection: Connection): void {
  const latest = prepareLatestNumber(connection)();
  refuseTooNew(latest, migrations.length);
  refuseRebuilt(connection);
  if (latest === migrations.length) return;
  throw new OpenRefusal(
    "read_only",
    `The database has schema ${latest} and must be updated to schema ${migrations.length}, but is read-only.`,
  );
}

/** Why the tables cannot be used. */
export interface SchemaProblem {
  readonly code: "schema_conflict" | "schema_too_new";
  readonly reason: string;
}

/** Prepares a check of the schema that returns `undefined` if it can be used. */
export function prepareSchemaCheck(connection: Connection): () => SchemaProblem | undefined {
  const latestNumber = prepareLatestNumber(connection);
  const rebuilt = prepareRebuilt(connection);
  return () => {
    const latest = latestNumber();
    if (latest > migrations.length)
      return { code: "schema_too_new", reason: `the ${tooNew(latest, migrations.length)}` };
    const reason = rebuilt();
    return reason === undefined ? undefined : { code: "schema_conflict", reason };
  };
}

function refuseRebuilt(connection: Connection): void {
  const reason = prepareRebuilt(connection)();
  if (reason !== undefined)
    throw new OpenRefusal("schema_conflict", `The tables cannot be used: ${reason}.`);
}

/** Thrown to roll back a trial. */
class EndOfTrial extends Error {}

function apply(connection: Connection, known: readonly Migration[]): void {
  const { database, queries } = connection;
  // SQLite creates tables in the main database. It does not take the database's name in a reference.
  const ddl = createQueries();
  const execute = (statement: Ddl): void => void database.exec(statement.compile(ddl).sql);
  execute(createMigrationsTable(ddl));
  // SQLite begins an immediate transaction even on a read-only file, and fails only at a write.
  execute(queries.deleteFrom("petstore_migrations").where("number", "is", null));
  const latest = prepareLatestNumber(connection)();
  refuseTooNew(latest, known.length);
  const record = prepareRecord(connection);
  for (const migration of known.slice(latest)) {
    migration.statements(ddl.schema).forEach(execute);
    record(migration);
  }
  refuseRebuilt(connection);
  known.flatMap(({ attached = [] }) => attached).forEach(execute);
}

function createMigrationsTable({ schema }: Kysely<Schema>): Ddl {
  return schema
    .createTable("petstore_migrations")
    .ifNotExists()
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`);
}

function prepareLatestNumber(connection: Connection): () => number {
  const latest = connection.select(["number"], (queries) =>
    queries.selectFrom("petstore_migrations").select(({ fn }) => fn.max("number").as("number")),
  );
  return () => latest.get(undefined)?.[0] ?? 0;
}

function prepareRecord(connection: Connection) {
  return connection.change((queries, value: Parameter<Pick<Migration, "number" | "name">>) =>
    queries
      .insertInto("petstore_migrations")
      .values({ number: value("number"), name: value("name") }),
  );
}

function refuseTooNew(latest: number, known: number): void {
  if (latest <= known) return;
  throw new OpenRefusal("schema_too_new", `The ${tooNew(latest, known)}.`);
}

function tooNew(latest: number, known: number): string {
  return `database has schema ${latest}; this version of @petstore/storage-sqlite knows schemas up to ${known}`;
}

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
const initial: Migration = {
  number: 1,
  name: "initial",
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

/** Creates the table of creations, and adds the start of a row of refusals to the usage. */
const idempotentCreates: Migration = {
  number: 2,
  name: "idempotent creates",
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

/** Every migration, in order. */
export const migrations: readonly Migration[] = [initial, idempotentCreates];
