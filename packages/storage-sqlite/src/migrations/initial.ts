import { sql } from "kysely";
import type { Migration } from "./migration.js";

/** Random: a count would repeat after a rollback or a restore. 53 of SQLite's 64 random bits fit into a number. */
const RANDOM = sql`random() >> 11`;

/** The changes of `pets` that renew the revision, each by a trigger. */
const CHANGES = ["insert", "update", "delete"] as const;

const triggerAfter = (change: (typeof CHANGES)[number]): string => `pets_revision_after_${change}`;

export const PETS_TRIGGERS = CHANGES.map(triggerAfter);

/** Creates pets, API keys with the digests of their secrets, and the usage of the keys. */
export const initial: Migration = {
  name: "initial",
  breaking: true,
  statements: [
    // AUTOINCREMENT never reuses the id of a removed pet.
    // The statuses are compared one by one: for IN, SQLite would fill a temporary table at every insert.
    sql`create table main.pets (
      id integer primary key autoincrement,
      name text not null,
      category_id integer not null,
      status text not null,
      constraint pets_id_positive check (id > 0),
      constraint pets_status_known check (status = 'available' or status = 'pending' or status = 'sold')
    ) strict`,
    sql`create table main.pets_revision (
      only integer primary key check (only = 1),
      revision integer not null
    ) strict`,
    sql`insert into main.pets_revision (only, revision) values (1, ${RANDOM})`,
    sql`create table main.api_keys (
      id text primary key check (id <> ''),
      plan text not null,
      per_minute integer not null check (per_minute > 0),
      per_day integer not null check (per_day > 0),
      label text,
      created_at integer not null,
      expires_at integer,
      revoked_at integer
    ) strict, without rowid`,
    sql`create table main.api_key_secrets (
      digest text primary key,
      key_id text not null references api_keys (id) on delete cascade,
      position integer not null,
      hint text not null,
      expires_at integer
    ) strict, without rowid`,
    sql`create table main.api_key_usage (
      key_id text primary key references api_keys (id) on delete cascade,
      minute_opened_at integer not null,
      minute_used integer not null check (minute_used >= 0),
      day_opened_at integer not null,
      day_used integer not null check (day_used >= 0),
      refusals integer not null check (refusals >= 0),
      bans integer not null check (bans >= 0),
      banned_at integer not null,
      last_used_at integer not null
    ) strict, without rowid`,
  ],
  attached: [
    // Every index of SQLite ends in the rowid, which is the id, so a page by status is read in order.
    sql`create index if not exists main.pets_by_status on pets (status)`,
    ...CHANGES.map(
      (change) => sql`
        create trigger if not exists main.${sql.id(triggerAfter(change))} after ${sql.raw(change)} on pets
        begin update pets_revision set revision = ${RANDOM}; end`,
    ),
    sql`create unique index if not exists main.api_key_secrets_by_key on api_key_secrets (key_id, position)`,
    sql`create index if not exists main.api_key_usage_banned on api_key_usage (key_id) where bans > 0`,
  ],
};
