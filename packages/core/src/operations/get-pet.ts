import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  petNotFound,
  storageUnavailable,
  type PetNotFound,
  type StorageUnavailable,
} from "../errors.js";
import type { PetIdInput, PetResult } from "../pet-store.js";
import { parseInt64, toInt64 } from "../pets/int64.js";

/** Returns a pet, for a caller that is admitted or trusted. See `PetOperations.getPet`. */
export async function getPet(
  { storage, emit, readClock }: Context,
  input: PetIdInput,
  keyId?: string,
): Promise<Result<PetResult, PetNotFound | StorageUnavailable>> {
  const id = typeof input === "string" ? parseInt64(input) : toInt64(input);
  const found = id === undefined ? ok(undefined) : await storage.pets.find(id);
  emit({ type: "deprecated_operation_used", at: readClock().now, operation: "getPet", keyId });
  if (found.isErr()) return err(storageUnavailable(found.error));
  return found.value === undefined ? err(petNotFound()) : ok({ pet: found.value });
}
