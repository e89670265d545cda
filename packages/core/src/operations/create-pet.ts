import { err, ok, type Result } from "neverthrow";
import { storageUnavailable, type InvalidPet, type StorageUnavailable } from "../errors.js";
import type { PetResult } from "../pet-store.js";
import { parseNewPet, type NewPetInput } from "../pets/new-pet.js";
import type { PetParts } from "./pet-parts.js";

/** Adds an animal (specification, "POST /pets"). */
export async function createPet(
  { pets, tell, read }: PetParts,
  input: NewPetInput,
  keyId?: string,
): Promise<Result<PetResult, InvalidPet | StorageUnavailable>> {
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return err(newPet.error);
  const created = await pets.create(newPet.value);
  if (created.isErr()) return err(storageUnavailable(created.error));
  const pet = created.value;
  tell(() => ({ type: "pet_created", at: read().now, pet, keyId }));
  return ok({ pet });
}
