import { sql, type Kysely } from "kysely";
import type { Connection } from "../connection.js";
import { refuse } from "../open-storage-error.js";
import type { Schema } from "../schema.js";
import type { Place } from "../statement.js";
import { initial } from "./0001-initial.js";
import type { Ddl, Migration } from "./migration.js";

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [initial];

/**
 * Brings the schema to its newest step, in one transaction: processes that open one file at the same
 * time wait for each other, and a step that fails leaves the file as it was.
 */
export function migrate(
  connection: Connection,
  queries: Kysely<Schema>,
  steps: readonly Migration[] = migrations,
): void {
  connection.write(() => takeSteps(connection, queries, steps));
}

/** Throws what `migrate` would throw, and leaves the file as it is in any case. */
export function mustBeMigratable(connection: Connection, queries: Kysely<Schema>): void {
  try {
    connection.write(() => {
      takeSteps(connection, queries, migrations);
      throw new TakeBack();
    });
  } catch (error) {
    if (!(error instanceof TakeBack)) throw error;
  }
}

/** Ends a transaction that was only a trial. */
class TakeBack extends Error {}

function takeSteps(
  connection: Connection,
  queries: Kysely<Schema>,
  steps: readonly Migration[],
): void {
  const execute = (statement: Ddl): void => {
    connection.database.exec(statement.compile(queries).sql);
  };
  execute(createMigrationsTable(queries));
  const taken = prepareMigrations(connection);
  taken.mustBeWritable();
  const latest = taken.latest();
  if (latest > steps.length) throw refuse("schema_too_new", tooNew(latest, steps.length));
  for (const step of steps.slice(latest)) {
    step.statements(queries.schema).forEach(execute);
    taken.record(step);
  }
}

function createMigrationsTable({ schema }: Kysely<Schema>): Ddl {
  return schema
    .createTable("petstore_migrations")
    .ifNotExists()
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`);
}

function prepareMigrations(connection: Connection) {
  const latest = connection.prepare((queries) =>
    queries.selectFrom("petstore_migrations").select(({ fn }) => fn.max("number").as("number")),
  );
  const record = connection.prepare((queries, value: Place<Pick<Migration, "number" | "name">>) =>
    queries
      .insertInto("petstore_migrations")
      .values({ number: value("number"), name: value("name") }),
  );
  const writeNothing = connection.prepare((queries) =>
    queries.deleteFrom("petstore_migrations").where("number", "is", null),
  );
  return {
    // SQLite begins an immediate transaction on a read-only file too: only a write statement tells.
    mustBeWritable: (): void => {
      writeNothing.run({});
    },
    latest: (): number => latest.get({})?.number ?? 0,
    record: ({ number, name }: Migration): void => {
      record.run({ number, name });
    },
  };
}

function tooNew(latest: number, known: number): string {
  return `The database has schema ${latest}; this version of @petstore/storage-sqlite knows schemas up to ${known}.`;
}
