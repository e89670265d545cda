import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import { storageUnavailable, type InvalidPet, type StorageUnavailable } from "../errors.js";
import type { PetResult } from "../pet-store.js";
import { parseNewPet, type NewPetInput } from "../pets/new-pet.js";

export async function createPet(
  { storage, emit, readClock }: Context,
  input: NewPetInput,
  keyId?: string,
): Promise<Result<PetResult, InvalidPet | StorageUnavailable>> {
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return err(newPet.error);
  const created = await storage.pets.create(newPet.value);
  if (created.isErr()) return err(storageUnavailable(created.error));
  const pet = created.value;
  emit({ type: "pet_created", at: readClock().now, pet, keyId });
  return ok({ pet });
}
