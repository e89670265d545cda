import type { ResultAsync } from "neverthrow";
import { storageUnavailable, type InvalidPet, type StorageUnavailable } from "../errors.js";
import { parseNewPet, type NewPetInput } from "../pets/new-pet.js";
import type { Pet } from "../pets/pet.js";
import type { PetStorage } from "../storage/pet-storage.js";

/** Adds an animal (specification, "POST /pets"). */
export function createPet(
  pets: PetStorage,
  input: NewPetInput,
): ResultAsync<{ readonly pet: Pet }, InvalidPet | StorageUnavailable> {
  return parseNewPet(input).asyncAndThen((newPet) =>
    pets
      .create(newPet)
      .map((pet) => ({ pet }))
      .mapErr(storageUnavailable),
  );
}
