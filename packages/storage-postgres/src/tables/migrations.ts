import { unnamed, type Database } from "../database/database.js";
import { OpenRefusal } from "../database/open-storage-error.js";

/** One step of the schema, forward only. Once released, a migration never changes. */
interface Migration {
  /** Counts from 1 without gaps. */
  readonly number: number;
  readonly name: string;
  /** Whether older versions of this package cannot use the tables after it. */
  readonly breaking: boolean;
  /** Returns the statements, for a schema whose name is quoted. */
  readonly statements: (schema: string) => string;
}

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
${migrations.map((migration) => whenMissing(quoted, migration)).join("\n")}
commit;
`;
}

function whenMissing(schema: string, { number, name, breaking, statements }: Migration): string {
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
  const [found] = await database.query<[boolean]>(unnamed(exists), [], "number");
  if (!found?.[0]) return 0;
  const [row] = await database.query<[number, number]>(
    unnamed(
      `select coalesce(max(number), 0), coalesce(max(number) filter (where breaking), 0) from ${quote(schema)}.migrations`,
    ),
    [],
    "number",
  );
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

/** Creates pets with their counter, API keys with their secrets and usage, and the writers. */
const initial: Migration = {
  number: 1,
  name: "initial",
  breaking: true,
  statements: (schema) => `${pets(schema)}${writers(schema)}${apiKeys(schema)}`,
};

function pets(schema: string): string {
  return `
create table ${schema}.pets (
  id bigint primary key check (id > 0),
  name text not null,
  category_id bigint not null,
  status text collate "C" not null check (status in ('available', 'pending', 'sold'))
);
create index pets_by_status on ${schema}.pets (status, id);

create table ${schema}.inventory (
  one_row boolean primary key default true check (one_row),
  last_id bigint not null,
  edits bigint not null
);
insert into ${schema}.inventory (last_id, edits) values (0, 0);

-- Changes by hand must reach the pages that servers have cached.
create function ${schema}.count_edit() returns trigger language plpgsql as $body$
begin
  update ${schema}.inventory set edits = edits + 1;
  return null;
end $body$;
create trigger count_edit after update or delete or truncate on ${schema}.pets
  for each statement execute function ${schema}.count_edit();

create table ${schema}.pet_creations (
  token text collate "C" primary key,
  pet_id bigint not null,
  fingerprint text not null,
  expires_at bigint not null
);
create index pet_creations_by_expiry on ${schema}.pet_creations (expires_at);
`;
}

function writers(schema: string): string {
  return `
create table ${schema}.writers (
  id text collate "C" primary key,
  seq bigint not null,
  written bigint[] not null,
  seen_at timestamptz not null
) with (fillfactor = 50);
`;
}

function apiKeys(schema: string): string {
  return `
create table ${schema}.api_keys (
  id text collate "C" primary key check (id <> ''),
  version bigint not null,
  plan text not null,
  per_minute bigint not null check (per_minute > 0),
  per_day bigint not null check (per_day > 0),
  label text,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);

create table ${schema}.api_key_secrets (
  digest text collate "C" primary key,
  key_id text collate "C" not null,
  position integer not null,
  hint text not null,
  expires_at bigint
);
create index api_key_secrets_by_key on ${schema}.api_key_secrets (key_id);

create table ${schema}.api_key_usage (
  key_id text collate "C" primary key,
  stamp bigint not null,
  minute_opened_at bigint not null default 0,
  minute_used bigint not null default 0 check (minute_used >= 0),
  day_opened_at bigint not null default 0,
  day_used bigint not null default 0 check (day_used >= 0),
  refused_since bigint not null default 0,
  refusals bigint not null default 0 check (refusals >= 0),
  bans bigint not null default 0 check (bans >= 0),
  banned_at bigint not null default 0,
  last_used_at bigint not null default 0
) with (fillfactor = 70);
create index api_key_usage_banned on ${schema}.api_key_usage (key_id) where bans > 0;
`;
}

/** Remembers the timeline of the server, which changes when a standby takes over or a backup is restored. */
const timeline: Migration = {
  number: 2,
  name: "timeline",
  breaking: false,
  statements: (schema) => `
-- Managed services may not let everyone read the log's position.
create function ${schema}.current_timeline() returns text language plpgsql as $body$
begin
  return left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
exception when others then
  return '';
end $body$;
alter table ${schema}.inventory add column timeline text not null default '';
update ${schema}.inventory set timeline = ${schema}.current_timeline();
`,
};

/** Makes `edits` random: two histories of a database, before and after a failover, must not share a value. */
const randomEdits: Migration = {
  number: 3,
  name: "random edits",
  breaking: false,
  statements: (schema) => `
create or replace function ${schema}.count_edit() returns trigger language plpgsql as $body$
begin
  update ${schema}.inventory set edits = (random() * 9e18)::bigint;
  return null;
end $body$;
`,
};

/** Every migration, in order. */
const migrations: readonly Migration[] = [initial, timeline, randomEdits];
