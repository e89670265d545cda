import { err, ok, type Result } from "neverthrow";
import { storageUnavailable, type InvalidPet, type StorageUnavailable } from "../errors.js";
import type { PetResult } from "../pet-store.js";
import { parseNewPet, type NewPetInput } from "../pets/new-pet.js";
import { askStorage } from "../storage/guard-storage.js";
import type { PetParts } from "./pet-parts.js";

/** Adds an animal (specification, "POST /pets"). */
export function createPet(
  { pets, tell, read }: PetParts,
  input: NewPetInput,
  keyId?: string,
): Promise<Result<PetResult, InvalidPet | StorageUnavailable>> {
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return Promise.resolve(err(newPet.error));
  return askStorage(
    () => pets.create(newPet.value),
    (created) => {
      if (created.isErr()) return err(storageUnavailable(created.error));
      const pet = created.value;
      tell(() => ({ type: "pet_created", at: read().now, pet, keyId }));
      return ok({ pet });
    },
  );
}
