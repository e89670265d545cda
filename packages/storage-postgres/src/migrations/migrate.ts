import type { Database } from "../database/database.js";
import { OpenRefusal } from "../database/open-storage-error.js";
import { DEFAULT_SCHEMA } from "../database/options.js";
import { initial } from "./initial.js";
import type { Migration } from "./migration.js";
import { randomEdits } from "./random-edits.js";
import { timeline } from "./timeline.js";

/** Every migration, in order; numbered from 1. */
const migrations: readonly Migration[] = [initial, timeline, randomEdits];

/** How long a migration waits for another server's, in milliseconds. */
const LOCK_TIMEOUT = 10_000;

/**
 * Returns the script that creates or updates the tables, for servers whose user may not. It may be run
 * again, and by several at once.
 * @param schema the schema for the tables, as the option of the storage has it; `petstore` by default.
 */
export function postgresMigrations(schema = DEFAULT_SCHEMA): string {
  // A name may be a word of SQL.
  const quoted = `"${schema}"`;
  const steps = migrations.map(
    ({ name, breaking, statements }, index) => `do $migration$ begin
if exists (select from ${quoted}.migrations where number = ${index + 1}) then return; end if;
${statements.replaceAll(":schema", () => quoted)}
insert into ${quoted}.migrations (number, name, breaking) values (${index + 1}, '${name}', ${breaking});
end $migration$;`,
  );
  return `begin isolation level read committed;
set local lock_timeout = ${LOCK_TIMEOUT};
-- Two that create at once would fail. The second must see what the first has committed.
select pg_advisory_xact_lock(hashtext('petstore'), hashtext('${schema}'));
do $look$ begin
  if to_regnamespace('${schema}') is null then
    create schema ${quoted};
  end if;
end $look$;
create table if not exists ${quoted}.migrations (
  number integer primary key,
  name text not null,
  breaking boolean not null
);
${steps.join("\n")}
commit;
`;
}

/**
 * Brings the schema up to date. Looks first: a server whose tables are up to date needs no right to create.
 * @throws OpenRefusal `schema_too_new`
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  const exists = `select to_regclass('${schema}.migrations') is not null`;
  const numbers = `select coalesce(max(number), 0), coalesce(max(number) filter (where breaking), 0) from "${schema}".migrations`;
  const [found] = await database.query<[boolean]>({ text: exists });
  const [row] = found?.[0] ? await database.query<[number, number]>({ text: numbers }) : [];
  const [latest = 0, latestBreaking = 0] = row ?? [];
  if (latestBreaking > migrations.length) {
    const message = `The database has schema ${latest}; this version of @petstore/storage-postgres knows schemas up to ${migrations.length}.`;
    throw new OpenRefusal("schema_too_new", message);
  }
  if (latest < migrations.length) await database.run(postgresMigrations(schema));
}
