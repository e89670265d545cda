import { err, ok, type Result } from "neverthrow";
import {
  petNotFound,
  storageUnavailable,
  type PetNotFound,
  type StorageUnavailable,
} from "../errors.js";
import type { PetIdInput, PetResult } from "../pet-store.js";
import { parseInt64, toInt64 } from "../pets/int64.js";
import type { Pet } from "../pets/pet.js";
import { askStorage } from "../storage/guard-storage.js";
import type { StorageFailure } from "../storage/storage-failure.js";
import type { PetParts } from "./pet-parts.js";

/** Fetches one animal (specification, "GET /pets/{petId}"). What is no int64 names no animal. */
export function getPet(
  { pets, tell, read }: PetParts,
  input: PetIdInput,
  keyId?: string,
): Promise<Result<PetResult, PetNotFound | StorageUnavailable>> {
  const conclude = (
    found: Result<Pet | undefined, StorageFailure>,
  ): Result<PetResult, PetNotFound | StorageUnavailable> => {
    tell(() => ({ type: "deprecated_operation_used", at: read().now, operation: "getPet", keyId }));
    if (found.isErr()) return err(storageUnavailable(found.error));
    return found.value === undefined ? err(petNotFound()) : ok({ pet: found.value });
  };
  const id = typeof input === "string" ? parseInt64(input) : toInt64(input);
  return id === undefined
    ? Promise.resolve(conclude(ok(undefined)))
    : askStorage(() => pets.find(id), conclude);
}
