import type { CreationRequest, NewPet } from "@petstore/core/storage";
import { CREATION_COLUMNS, toCreation } from "@petstore/storage-sql";
import type { Parameter, SqlSchema } from "@petstore/storage-sql";
import { sql } from "kysely";
import { LEVELS, prepareWrite } from "../commit/write.js";
import type { Connection } from "../database/connection.js";
import { countIds, NEW_PET_COLUMNS, newPetArrays, type PetsToAdd } from "./new-pets.js";

/** A pet to add, and under which token it is remembered, if at all. */
export interface PetToCreate {
  readonly pet: NewPet;
  readonly request?: CreationRequest | undefined;
}

export type PetCreations = ReturnType<typeof preparePetCreations>;

export function preparePetCreations(connection: Connection) {
  const { prepare, select, table } = connection;
  const creations = table("pet_creations");
  const find = select(
    CREATION_COLUMNS,
    (value: Parameter<{ tokens: readonly string[] }>) => sql<SqlSchema["pet_creations"]>`
      select * from ${creations} where token = any(${value("tokens")}::text[])`,
    "bigint",
  );
  return {
    /** The creations with these tokens, expired or not. */
    find: async (tokens: readonly string[]) => (await find({ tokens })).map(toCreation),
    /** Adds pets; records their ids, or null for one whose token another creation has. */
    add: prepareAdd(connection),
    /** Removes up to `count` creations that have expired at this time, the oldest first. */
    removeExpired: prepare(
      [],
      (value: Parameter<{ now: number; count: number }>) => sql`
      delete from ${creations} where token = any(array(
        select token from ${creations} where expires_at <= ${value("now")}
        order by expires_at limit ${value("count")} for update skip locked))
      returning ${LEVELS.off}`,
    ),
  };
}

/** The statements that add pets take turns (`countIds`), and so never wait for each other's tokens. */
function prepareAdd(connection: Connection) {
  const { table } = connection;
  return prepareWrite(connection, (value: Parameter<PetsToAdd<PetToCreate>>) => {
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
    };
  });
}
