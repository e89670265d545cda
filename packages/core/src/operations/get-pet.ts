import { err, errAsync, ok, type ResultAsync } from "neverthrow";
import {
  petNotFound,
  storageUnavailable,
  type PetNotFound,
  type StorageUnavailable,
} from "../errors.js";
import { parseInt64, toInt64 } from "../pets/int64.js";
import type { Pet } from "../pets/pet.js";
import type { PetStorage } from "../storage/pet-storage.js";

/** Fetches one animal (specification, "GET /pets/{petId}"). What is no int64 names no animal. */
export function getPet(
  pets: PetStorage,
  input: bigint | number | string,
): ResultAsync<{ readonly pet: Pet }, PetNotFound | StorageUnavailable> {
  const id = typeof input === "string" ? parseInt64(input) : toInt64(input);
  if (id === undefined) return errAsync(petNotFound());
  return pets
    .find(id)
    .mapErr(storageUnavailable)
    .andThen((pet) => (pet === undefined ? err(petNotFound()) : ok({ pet })));
}
