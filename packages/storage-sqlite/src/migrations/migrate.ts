import type { Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { Connection } from "../database/connection.js";
import type { SqliteDatabase } from "../database/driver.js";
import { OpenRefusal } from "../database/open-storage-error.js";
import { prepareRebuilt } from "../tables/rebuilt.js";
import type { MigrationsTable } from "../tables/schema.js";
import { idempotentCreates } from "./idempotent-creates.js";
import { initial } from "./initial.js";
import type { Ddl, Migration } from "./migration.js";

export const migrations: readonly Migration[] = [initial, idempotentCreates];

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

/** Throws if this version cannot use the schema of a read-only database. */
export function refuseUnmigrated(connection: Connection): void {
  const latest = prepareLatest(connection)();
  refuseTooNew(latest, migrations);
  refuseRebuilt(connection);
  if (latest.number >= migrations.length) return;
  throw new OpenRefusal(
    "read_only",
    `The database has schema ${latest.number} and must be updated to schema ${migrations.length}, but is read-only.`,
  );
}

/** Prepares a check that returns why the tables cannot be used; `undefined` if they can. */
export function prepareSchemaCheck(connection: Connection) {
  const latest = prepareLatest(connection);
  const rebuilt = prepareRebuilt(connection);
  return () => {
    const found = tooNew(latest(), migrations);
    if (found !== undefined) return { code: "schema_too_new", reason: `the ${found}` };
    const reason = rebuilt();
    return reason === undefined ? undefined : { code: "schema_conflict", reason };
  };
}

function refuseRebuilt(connection: Connection): void {
  const reason = prepareRebuilt(connection)();
  if (reason !== undefined)
    throw new OpenRefusal("schema_conflict", `The tables cannot be used: ${reason}.`);
}

class EndOfTrial extends Error {}

function apply(connection: Connection, known: readonly Migration[]): void {
  const { database, queries } = connection;
  const execute = (statement: Ddl): void => void database.exec(statement.compile(queries).sql);
  execute(MIGRATIONS_TABLE);
  addBreaking(database);
  // SQLite begins an immediate transaction even on a read-only file, and fails only at a write.
  database.exec("delete from main.petstore_migrations where number is null");
  const latest = prepareLatest(connection)();
  refuseTooNew(latest, known);
  const record = connection.change((all, value: Parameter<MigrationsTable>) =>
    all
      .insertInto("petstore_migrations")
      .values({ number: value("number"), name: value("name"), breaking: value("breaking") }),
  );
  for (const { number, name, breaking, statements } of known.slice(latest.number)) {
    statements.forEach(execute);
    record({ number, name, breaking: breaking ? 1 : 0 });
  }
  refuseRebuilt(connection);
  known.flatMap(({ attached = [] }) => attached).forEach(execute);
}

const MIGRATIONS_TABLE = sql`create table if not exists main.petstore_migrations (
  number integer primary key,
  name text not null,
  breaking integer not null
) strict`;

/** Databases of before 1.0 lack the column: all their migrations were breaking. */
function addBreaking(database: SqliteDatabase): void {
  const column = database.prepare(
    "select name from pragma_table_info('petstore_migrations', 'main') where name = 'breaking'",
  );
  if (column.get([]) !== undefined) return;
  database.exec(
    "alter table main.petstore_migrations add column breaking integer not null default 1",
  );
}

/** The number of the newest migration in a database, and of the newest that is breaking; 0 if there is none. */
interface Latest {
  readonly number: number;
  readonly breaking: number;
}

function prepareLatest(connection: Connection): () => Latest {
  const latest = connection.select(["number", "breaking"], (queries) =>
    queries
      .selectFrom("petstore_migrations")
      .select(({ fn }) => [
        fn.max("number").as("number"),
        fn.max("number").filterWhere("breaking", "=", sql.lit(1)).as("breaking"),
      ]),
  );
  return () => {
    const [number, breaking] = latest.get(undefined) ?? [];
    return { number: number ?? 0, breaking: breaking ?? 0 };
  };
}

function refuseTooNew(latest: Latest, known: readonly Migration[]): void {
  const found = tooNew(latest, known);
  if (found !== undefined) throw new OpenRefusal("schema_too_new", `The ${found}.`);
}

/** Why this version cannot use the database; `undefined` if it can. What newer, unbreaking migrations add is not used. */
function tooNew(latest: Latest, { length }: readonly Migration[]): string | undefined {
  if (latest.breaking <= length) return undefined;
  return `database has schema ${latest.number}; this version of @petstore/storage-sqlite knows schemas up to ${length}`;
}
