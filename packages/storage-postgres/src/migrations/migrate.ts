import type { Database } from "../database/database.js";
import { OpenRefusal } from "../database/open-storage-error.js";
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
 * @param schema the schema for the tables; `petstore` by default.
 */
export function postgresMigrations(schema = "petstore"): string {
  const quoted = quote(schema);
  return `begin;
set local lock_timeout = ${LOCK_TIMEOUT};
-- Two that create at once would fail.
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
${migrations.map((migration, index) => whenMissing(quoted, migration, index + 1)).join("\n")}
commit;
`;
}

function whenMissing(
  schema: string,
  { name, breaking, statements }: Migration,
  number: number,
): string {
  return `do $migration$ begin
if exists (select from ${schema}.migrations where number = ${number}) then return; end if;
${statements(schema)}
insert into ${schema}.migrations (number, name, breaking) values (${number}, '${name}', ${breaking});
end $migration$;`;
}

/**
 * Brings the schema up to date. Looks first: a server whose tables are up to date needs no right to create.
 * @throws OpenRefusal `schema_too_new`
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  const latest = await latestNumber(database, schema);
  if (latest < migrations.length) await database.run(postgresMigrations(schema));
}

/** The number of the newest migration in the database; 0 if there is none. */
async function latestNumber(database: Database, schema: string): Promise<number> {
  const exists = `select to_regclass('${schema}.migrations') is not null`;
  const [found] = await database.query<[boolean]>({ text: exists });
  if (!found?.[0]) return 0;
  const [row] = await database.query<[number, number]>({
    text: `select coalesce(max(number), 0), coalesce(max(number) filter (where breaking), 0) from ${quote(schema)}.migrations`,
  });
  const [latest = 0, latestBreaking = 0] = row ?? [];
  if (latestBreaking <= migrations.length) return latest;
  throw new OpenRefusal(
    "schema_too_new",
    `The database has schema ${latest}; this version of @petstore/storage-postgres knows schemas up to ${migrations.length}.`,
  );
}

/** A name may be a word of SQL. */
function quote(schema: string): string {
  return `"${schema}"`;
}
