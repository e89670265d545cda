import type { Parameter } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import type { Connection } from "../database/connection.js";
import { OpenRefusal } from "../database/open-storage-error.js";
import { idempotentCreates } from "./idempotent-creates.js";
import { initial } from "./initial.js";
import type { Migration, MigrationsTable } from "./migration.js";

/** Every migration, in order; numbered from 1. */
export const migrations: readonly Migration[] = [initial, idempotentCreates];

/** Brings the schema up to date in one transaction, for which other processes wait. If it fails, nothing is changed. */
export function migrate(connection: Connection, known = migrations): void {
  connection.write("FULL", () => apply(connection, known));
}

/** Throws the error that `migrate` would throw, without changing anything. */
export function refuseUnmigratable(connection: Connection): void {
  const endOfTrial = new Error();
  try {
    connection.write("FULL", () => {
      apply(connection, migrations);
      throw endOfTrial;
    });
  } catch (error) {
    if (error !== endOfTrial) throw error;
  }
}

/** Throws if this version cannot use the schema of a read-only database. */
export function refuseUnmigrated(connection: Connection): void {
  const number = refuseUnusable(connection, migrations);
  if (number >= migrations.length) return;
  const message = `The database has schema ${number} and must be updated to schema ${migrations.length}, but is read-only.`;
  throw new OpenRefusal("read_only", message);
}

/** Prepares a check that returns the number of the newest migration, and why the tables cannot be used, if so. */
export function prepareSchemaCheck(connection: Connection, known = migrations) {
  const latest = connection.select(["number", "breaking"], (queries) =>
    queries
      .selectFrom("petstore_migrations")
      .select(({ fn }) => [
        fn.max("number").as("number"),
        fn.max("number").filterWhere("breaking", "=", sql.lit(1)).as("breaking"),
      ]),
  );
  const rebuilt = prepareRebuilt(connection);
  return (): { readonly number: number; readonly problem: SchemaProblem | undefined } => {
    const [newest, breaking] = latest.get(undefined) ?? [];
    const number = newest ?? 0;
    if ((breaking ?? 0) > known.length) {
      const message = `the database has schema ${number}; this version of @petstore/storage-sqlite knows schemas up to ${known.length}`;
      return { number, problem: { code: "schema_too_new", message } };
    }
    return { number, problem: rebuilt() };
  };
}

interface SchemaProblem {
  readonly code: "schema_too_new" | "schema_conflict";
  readonly message: string;
}

function apply(connection: Connection, known: readonly Migration[]): void {
  const { database, queries } = connection;
  const execute = (statement: RawBuilder<unknown>): void =>
    void database.exec(statement.compile(queries).sql);
  execute(MIGRATIONS_TABLE);
  // Databases of before 1.0 lack the column: all their migrations were breaking.
  if (database.prepare(BREAKING_COLUMN).get([]) === undefined) database.exec(ADD_BREAKING);
  // SQLite begins an immediate transaction even on a read-only file, and fails only at a write.
  database.exec("delete from main.petstore_migrations where number is null");
  const latest = refuseUnusable(connection, known);
  const record = connection.change((all, value: Parameter<MigrationsTable>) =>
    all
      .insertInto("petstore_migrations")
      .values({ number: value("number"), name: value("name"), breaking: value("breaking") }),
  );
  known.slice(latest).forEach(({ name, breaking, statements }, index) => {
    statements.forEach(execute);
    record({ number: latest + index + 1, name, breaking: breaking ? 1 : 0 });
  });
  known.flatMap(({ attached = [] }) => attached).forEach(execute);
}

const MIGRATIONS_TABLE = sql`create table if not exists main.petstore_migrations (
  number integer primary key,
  name text not null,
  breaking integer not null
) strict`;

const BREAKING_COLUMN =
  "select name from pragma_table_info('petstore_migrations', 'main') where name = 'breaking'";
const ADD_BREAKING =
  "alter table main.petstore_migrations add column breaking integer not null default 1";

/** Returns the number of the newest migration in the database; 0 if there is none. */
function refuseUnusable(connection: Connection, known: readonly Migration[]): number {
  const { number, problem } = prepareSchemaCheck(connection, known)();
  // Without a migration, the tables belong to another program: the first migration fails.
  if (problem === undefined || number === 0) return number;
  throw new OpenRefusal(problem.code, `The tables cannot be used: ${problem.message}.`);
}

/** What the definition of a table must have after another program has rebuilt it, so that no id and no key repeats. */
const NEEDED = new Map([
  ["pets", "AUTOINCREMENT"],
  ["api_keys", "PRIMARY KEY"],
  ["api_key_secrets", "PRIMARY KEY"],
  ["api_key_usage", "PRIMARY KEY"],
  ["pet_creations", "PRIMARY KEY"],
]);

/** Prepares a check that returns why a table cannot be used, if so. It looks only after a change of the schema. */
function prepareRebuilt(connection: Connection): () => SchemaProblem | undefined {
  const version = connection.database.prepare<readonly [number]>("pragma main.schema_version");
  version.raw(true);
  const tables = connection.select(
    ["name", "sql"],
    () => sql<{ readonly name: string; readonly sql: string }>`
      select "name", "sql" from "main"."sqlite_schema" where "type" = 'table'`,
  );
  let seen: number | undefined;
  let problem: SchemaProblem | undefined;
  return () => {
    const current = version.get([])?.[0];
    if (current !== seen) problem = tables.all(undefined).map(problemOf).find(Boolean);
    seen = current;
    return problem;
  };
}

/** SQLite ignores the case of a table's name, but not in `sqlite_sequence`. */
function problemOf([name, definition]: readonly [string, string]): SchemaProblem | undefined {
  const own = name.toLowerCase();
  const needed = NEEDED.get(own);
  if (needed === undefined) return undefined;
  if (name === own && definition.toUpperCase().includes(needed)) return undefined;
  const message = `another program rebuilt the table ${name}, which must be named ${own} and have ${needed}`;
  return { code: "schema_conflict", message };
}
