import type { Parameter } from "@petstore/storage-sql";
import { sql, type Kysely } from "kysely";
import type { Connection } from "../database/connection.js";
import { OpenRefusal } from "../database/open-storage-error.js";
import type { Schema } from "../tables/schema.js";
import { migrations, type Ddl, type Migration } from "./migrations.js";

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
  if (latest === migrations.length) return;
  throw new OpenRefusal(
    "read_only",
    `The database has schema ${latest} and must be updated to schema ${migrations.length}, but is read-only.`,
  );
}

/** Prepares a check that returns why the schema is too new for this version; `undefined` if it is not. */
export function prepareSchemaCheck(connection: Connection): () => string | undefined {
  const latestNumber = prepareLatestNumber(connection);
  return () => {
    const latest = latestNumber();
    return latest > migrations.length ? `the ${tooNew(latest, migrations.length)}` : undefined;
  };
}

/** Thrown to roll back a trial. */
class EndOfTrial extends Error {}

function apply(connection: Connection, known: readonly Migration[]): void {
  const { database, queries } = connection;
  const execute = (statement: Ddl): void => void database.exec(statement.compile(queries).sql);
  execute(createMigrationsTable(queries));
  refuseReadOnly(connection);
  const latest = prepareLatestNumber(connection)();
  refuseTooNew(latest, known.length);
  const record = prepareRecord(connection);
  for (const migration of known.slice(latest)) {
    migration.statements(queries.schema).forEach(execute);
    record(migration);
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

/** Writes: SQLite begins an immediate transaction even on a read-only file, and fails only at a write. */
function refuseReadOnly(connection: Connection): void {
  const deleteNothing = connection.change((queries) =>
    queries.deleteFrom("petstore_migrations").where("number", "is", null),
  );
  deleteNothing(undefined);
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
