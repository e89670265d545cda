import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  idempotencyKeyReused,
  petNotFound,
  storageUnavailable,
  type CreatePetFailure,
  type IdempotencyKeyReused,
  type InvalidQuery,
  type PetNotFound,
  type StorageUnavailable,
} from "../errors.js";
import type { CreatedPet, PetIdInput, PetResult } from "../pet-store.js";
import {
  fingerprintOf,
  parseIdempotencyKey,
  tokenOf,
  type CreatePetOptions,
} from "../pets/idempotency.js";
import { parseInt64, toInt64 } from "../pets/int64.js";
import { parseListQuery, type ListPetsInput, type PetPage } from "../pets/list-query.js";
import { parseNewPet, type NewPet, type NewPetInput } from "../pets/pet.js";

/** Returns a page of pets, for a caller that is admitted or trusted. See `PetOperations.listPets`. */
export async function listPets(
  { storage }: Context,
  input: ListPetsInput,
): Promise<Result<PetPage, InvalidQuery | StorageUnavailable>> {
  const query = parseListQuery(input);
  if (query.isErr()) return err(query.error);
  const page = await storage.pets.list(query.value);
  return page.mapErr(storageUnavailable);
}

/** Creates a pet, for a caller that is admitted or trusted. See `PetOperations.createPet`. */
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
