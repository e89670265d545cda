import type { Creation } from "@petstore/core";
import type { Tuple } from "./query.js";
import type { PetCreationsTable } from "./schema.js";

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
