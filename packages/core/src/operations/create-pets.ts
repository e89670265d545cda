import { err, ok, type Result } from "neverthrow";
import { storageUnavailable, type InvalidPets, type StorageUnavailable } from "../errors.js";
import type { PetsResult } from "../pet-store.js";
import type { NewPetInput } from "../pets/new-pet.js";
import { parseNewPets } from "../pets/new-pets.js";
import { askStorage } from "../storage/guard-storage.js";
import type { PetParts } from "./pet-parts.js";

/** Adds several animals, all of them or none. */
export function createPets(
  { pets, tell, read }: PetParts,
  inputs: readonly NewPetInput[],
): Promise<Result<PetsResult, InvalidPets | StorageUnavailable>> {
  const newPets = parseNewPets(inputs);
  if (newPets.isErr()) return Promise.resolve(err(newPets.error));
  return askStorage(
    () => pets.createAll(newPets.value),
    (created) => {
      if (created.isErr()) return err(storageUnavailable(created.error));
      for (const pet of created.value) {
        tell(() => ({ type: "pet_created", at: read().now, pet, keyId: undefined }));
      }
      return ok({ pets: created.value });
    },
  );
}
