import type { CreationRequest, NewPet } from "@petstore/core/storage";
import {
  CREATION_COLUMNS,
  toCreation,
  type Parameter,
  type PetCreation,
  type SqlSchema,
} from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import { prepareWrite, type Write } from "../commit/write.js";
import type { Connection, Select } from "../database/connection.js";
import { NEW_PET_COLUMNS, newPetArrays } from "./pets.js";

/** The statements that add pets, and remember creations. */
export interface PetCreations {
  /** The creations with these tokens, expired or not. */
  find(tokens: readonly string[]): Promise<readonly PetCreation[]>;
  /** Adds pets; records their ids, or null for one whose token another creation has. */
  readonly add: Write<Additions>;
  /** Removes up to `count` creations that have expired at this time, the oldest first. */
  readonly removeExpired: Select<{ readonly now: number; readonly count: number }, unknown>;
}

/** A pet to add, and under which token it is remembered, if at all. */
export interface PetToCreate {
  readonly pet: NewPet;
  readonly request?: CreationRequest | undefined;
}

/** Pets to add, and the greatest id that is known to have been used. */
interface Additions {
  readonly pets: readonly PetToCreate[];
  readonly lastId: bigint;
}

/** Prepares these statements. */
export function preparePetCreations(connection: Connection): PetCreations {
  const find = prepareFind(connection);
  return {
    find: async (tokens) => (await find({ tokens })).map(toCreation),
    add: prepareAdd(connection),
    removeExpired: prepareRemoveExpired(connection),
  };
}

function prepareFind({ select, table }: Connection) {
  return select(
    CREATION_COLUMNS,
    (value: Parameter<{ tokens: readonly string[] }>) => sql<SqlSchema["pet_creations"]>`
      select * from ${table("pet_creations")} where token = any(${value("tokens")}::text[])`,
    "bigint",
  );
}

function prepareAdd(connection: Connection) {
  const { table } = connection;
  return prepareWrite(connection, (value: Parameter<Additions>) => {
    const each = <T>(read: (item: PetToCreate) => T) => value.of(({ pets }) => pets.map(read));
    return {
      expressions: sql`
        wanted as (
          select * from unnest(
            ${newPetArrays(value, ({ pets }) => pets.map(({ pet }) => pet))},
            ${each(({ request }) => request?.token ?? null)}::text[],
            ${each(({ request }) => request?.fingerprint ?? null)}::text[],
            ${each(({ request }) => request?.now ?? null)}::bigint[],
            ${each(({ request }) => request?.expiresAt ?? null)}::bigint[]
          ) with ordinality as input (${NEW_PET_COLUMNS}, token, fingerprint, now, expires_at, position)),
        ${countIds(connection, value)},
        claimed as (
          insert into ${table("pet_creations")} as earlier (token, pet_id, fingerprint, expires_at)
          select token, before + position, fingerprint, expires_at from counter, wanted
          where token is not null order by token
          on conflict (token) do update
          set pet_id = excluded.pet_id, fingerprint = excluded.fingerprint, expires_at = excluded.expires_at
          where earlier.expires_at <= (select now from wanted where wanted.token = excluded.token)
          returning token),
        added as (
          insert into ${table("pets")} (id, ${NEW_PET_COLUMNS})
          select before + position, ${NEW_PET_COLUMNS} from counter, wanted
          where token is null or token in (select token from claimed)
          returning id)`,
      written: sql`
        select array_agg(added.id order by position) from counter cross join wanted
        left join added on added.id = before + position`,
      synchronous: "on",
    };
  });
}

/** More ids than a standby can be behind. */
const SKIPPED = 1_000_000;

/**
 * The expression `counter`: it reserves the ids of the pets, and `before` is the last id before them.
 *
 * The statement updates the one row of `inventory` first, and holds it until its commit is visible. So ids become visible
 * in their order, a list that continues after the last id seen skips no pet, and no two wait for each other's tokens.
 *
 * It also renews `edits`: after a failover, other pets may have the same ids. When a standby has taken over, it may lack
 * ids that the earlier server gave out: then many are skipped.
 */
function countIds({ table, callOf }: Connection, value: Parameter<Additions>): RawBuilder<unknown> {
  const count = value.of(({ pets }) => pets.length);
  const currentTimeline = callOf("current_timeline");
  return sql`
    counter as (
      update ${table("inventory")}
      set last_id = greatest(last_id, ${value("lastId")}::bigint) + ${count}
          + case when timeline = ${currentTimeline} then 0 else ${sql.lit(SKIPPED)} end,
        timeline = ${currentTimeline}, edits = (random() * 9e18)::bigint
      where exists (select from writer)
      returning last_id - ${count} as before)`;
}

function prepareRemoveExpired({ prepare, table }: Connection) {
  const creations = table("pet_creations");
  return prepare(
    [],
    (value: Parameter<{ now: number; count: number }>) => sql`
      delete from ${creations} where token = any(array(
        select token from ${creations} where expires_at <= ${value("now")}
        order by expires_at limit ${value("count")} for update skip locked))
      returning set_config('synchronous_commit', 'off', true)`,
  );
}
