import type { CreationRequest, NewPet } from "@petstore/core/storage";
import { newPetFields, petColumns, type Parameter } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import { columnsOf, type Connection } from "../database/connection.js";

/** A pet to add, and under which token it is remembered, if at all. */
export interface PetToCreate {
  readonly pet: NewPet;
  readonly request?: CreationRequest | undefined;
}

/** Pets to add, and the greatest id that is known to have been used. */
export interface PetsToAdd {
  readonly pets: readonly PetToCreate[];
  readonly lastId: bigint;
}

/**
 * The expression `counter` of a statement that adds pets: it reserves their ids, and `before` is the last id before them.
 * Each such statement updates the one row of `inventory` first, and holds it until its commit is visible. So
 * ids become visible in their order, and a list that continues after the last id seen skips no pet.
 * It also renews `edits`: after a failover, other pets may have the same ids. When a standby has taken over, it may lack
 * ids that the earlier server gave out: then a million are skipped, more than a standby can be behind.
 * `limit 1`: PostgreSQL expects a thousand rows in a new table, and would compile the statement (JIT) for seconds.
 */
export function countIds({ table, currentTimeline }: Connection, value: Parameter<PetsToAdd>) {
  const count = value.of(({ pets }) => pets.length);
  return sql`
    counting as (
      update ${table("inventory")}
      set last_id = greatest(last_id, ${value("lastId")}::bigint) + ${count}
          + case when timeline = ${currentTimeline} then 0 else ${sql.lit(1_000_000)} end,
        timeline = ${currentTimeline}, edits = (random() * 9e18)::bigint
      where exists (select from writer)
      returning last_id - ${count} as before),
    counter as (select before from counting limit 1)`;
}

export const NEW_PET_COLUMNS = columnsOf(newPetFields.map((field) => petColumns[field].column));

/** Returns the arrays of the values of these pets, one for each of `NEW_PET_COLUMNS`, for `unnest`. */
export function newPetArrays<Argument>(
  value: Parameter<Argument>,
  petsOf: (argument: Argument) => readonly NewPet[],
): RawBuilder<unknown> {
  const arrays = newPetFields.map(
    (field) =>
      sql`${value.of((argument) => petsOf(argument).map((pet) => pet[field]))}::${sql.raw(petColumns[field].type)}[]`,
  );
  return sql.join(arrays);
}
