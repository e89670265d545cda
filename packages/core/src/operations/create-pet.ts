import { err, type Result } from "neverthrow";
import { storageUnavailable, type InvalidPet, type StorageUnavailable } from "../errors.js";
import type { PetResult } from "../pet-store.js";
import { parseNewPet, type NewPetInput } from "../pets/new-pet.js";
import type { PetStorage } from "../storage/pet-storage.js";

/** Adds an animal (specification, "POST /pets"). */
export async function createPet(
  pets: PetStorage,
  input: NewPetInput,
): Promise<Result<PetResult, InvalidPet | StorageUnavailable>> {
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return err(newPet.error);
  const created = await pets.create(newPet.value);
  return created.map((pet) => ({ pet })).mapErr(storageUnavailable);
}
