import type { Creation, Pet, PetStatus } from "@petstore/core";

import type { Parameter, Tuple } from "./query.js";
import type { PetCreationsTable, PetsTable, Selecting } from "./schema.js";

/** The columns of a pet, in the order that `toPet` reads. */
export const PET_COLUMNS = ["id", "name", "category_id", "status"] as const;

/** Which pets a page holds at most. */
export interface PetsAfter {
  readonly count: number;
  readonly after: bigint;
}

/** Selects the pet with an id. */
export function selectPet(queries: Selecting, value: Parameter<{ id: bigint }>) {
  return queries.selectFrom("pets").select(PET_COLUMNS).where("id", "=", value("id"));
}

/** Selects in ascending order of id. */
export function selectPets(queries: Selecting, value: Parameter<PetsAfter>) {
  return queries
    .selectFrom("pets")
    .select(PET_COLUMNS)
    .where("id", ">", value("after"))
    .orderBy("id")
    .limit(value("count"));
}

/** Selects those with one status, in ascending order of id. */
export function selectPetsByStatus(
  queries: Selecting,
  value: Parameter<PetsAfter & { status: PetStatus }>,
) {
  return selectPets(queries, value).where("status", "=", value("status"));
}

/** Returns the pet in a row, frozen. */
export function toPet([id, name, categoryId, status]: Tuple<PetsTable, typeof PET_COLUMNS>): Pet {
  return Object.freeze({ id, name, categoryId, status });
}

/** A creation under its token. */
export interface PetCreation extends Omit<Creation, "isReplay"> {
  readonly token: string;
}

/** The columns of a creation, in the order that `toCreation` reads. */
export const CREATION_COLUMNS = ["token", "pet_id", "fingerprint", "expires_at"] as const;

/** Returns the creation in a row. */
export function toCreation([token, petId, fingerprint, expiresAt]: Tuple<
  PetCreationsTable,
  typeof CREATION_COLUMNS
>): PetCreation {
  return { token, petId, fingerprint, expiresAt: Number(expiresAt) };
}
