import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  idempotencyKeyReused,
  storageUnavailable,
  type CreatePetFailure,
  type IdempotencyKeyReused,
  type StorageUnavailable,
} from "../errors.js";
import type { CreatedPet } from "../pet-store.js";
import {
  fingerprintOf,
  parseIdempotencyKey,
  tokenOf,
  type CreatePetOptions,
} from "../pets/idempotency.js";
import { parseNewPet, type NewPetInput } from "../pets/new-pet.js";
import type { NewPet } from "../pets/pet.js";

/**
 * Validates and creates a pet, for a caller that is admitted or trusted. See `PetOperations.createPet`.
 */
export async function createPet(
  context: Context,
  input: NewPetInput,
  { idempotencyKey }: CreatePetOptions,
  keyId?: string,
): Promise<Result<CreatedPet, CreatePetFailure | StorageUnavailable>> {
  const key = idempotencyKey === undefined ? ok() : parseIdempotencyKey(idempotencyKey);
  if (key.isErr()) return err(key.error);
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return err(newPet.error);

  const isOnce = key.value !== undefined && context.idempotencyKeyLife > 0;
  const created = isOnce
    ? await createOnce(context, newPet.value, tokenOf(key.value, keyId))
    : await createAnew(context, newPet.value);
  if (created.isErr()) return err(created.error);

  const { pet, replayed } = created.value;
  if (!replayed) {
    context.emit({ type: "pet_created", at: context.readClock().now, pet, keyId });
  }
  return ok({ pet, replayed });
}

async function createAnew(
  { storage }: Context,
  newPet: NewPet,
): Promise<Result<CreatedPet, StorageUnavailable>> {
  const created = await storage.pets.create(newPet);
  return created.map((pet) => ({ pet, replayed: false })).mapErr(storageUnavailable);
}

async function createOnce(
  { storage, readClock, idempotencyKeyLife }: Context,
  newPet: NewPet,
  token: string,
): Promise<Result<CreatedPet, IdempotencyKeyReused | StorageUnavailable>> {
  const { now } = readClock();
  const fingerprint = fingerprintOf(newPet);
  const request = { token, fingerprint, now, expiresAt: now + idempotencyKeyLife };
  const remembered = await storage.pets.createOnce(newPet, request);
  if (remembered.isErr()) return err(storageUnavailable(remembered.error));
  const creation = remembered.value;
  if (creation.fingerprint !== fingerprint) return err(idempotencyKeyReused());
  const pet = Object.freeze({ id: creation.petId, ...newPet });
  return ok({ pet, replayed: creation.isReplay });
}
