import type { Migration } from "./migration.js";

export const initial: Migration = {
  name: "initial",
  breaking: true,
  statements: `
create table :schema.pets (
  id bigint primary key check (id > 0),
  name text not null,
  category_id bigint not null,
  status text collate "C" not null check (status in ('available', 'pending', 'sold'))
);
create index pets_by_status on :schema.pets (status, id);

create table :schema.inventory (
  one_row boolean primary key default true check (one_row),
  last_id bigint not null,
  edits bigint not null
);
insert into :schema.inventory (last_id, edits) values (0, 0);

-- Changes by hand must reach the pages that servers have cached.
create function :schema.count_edit() returns trigger language plpgsql as $body$
begin
  update :schema.inventory set edits = edits + 1;
  return null;
end $body$;
create trigger count_edit after update or delete or truncate on :schema.pets
  for each statement execute function :schema.count_edit();

create table :schema.pet_creations (
  token text collate "C" primary key,
  pet_id bigint not null,
  fingerprint text not null,
  expires_at bigint not null
);
create index pet_creations_by_expiry on :schema.pet_creations (expires_at);

create table :schema.writers (
  id text collate "C" primary key,
  seq bigint not null,
  written bigint[] not null,
  seen_at timestamptz not null
) with (fillfactor = 50);

create table :schema.api_keys (
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

create table :schema.api_key_secrets (
  digest text collate "C" primary key,
  key_id text collate "C" not null,
  position integer not null,
  hint text not null,
  expires_at bigint
);
create index api_key_secrets_by_key on :schema.api_key_secrets (key_id);

create table :schema.api_key_usage (
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
create index api_key_usage_banned on :schema.api_key_usage (key_id) where bans > 0;
`,
};
