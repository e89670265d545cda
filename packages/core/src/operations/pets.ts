import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  changeFailed,
  idempotencyKeyReused,
  petNotFound,
  storageUnavailable,
  type CreatePetFailure,
  type IdempotencyKeyReused,
  type InvalidQuery,
  type PetNotFound,
  type StorageUnavailable,
} from "../errors.js";
import {
  fingerprintOf,
  parseIdempotencyKey,
  tokenOf,
  type CreatePetOptions,
} from "../pets/idempotency.js";
import { parseInt64, toInt64 } from "../pets/int64.js";
import { parseListQuery, type ListPetsInput, type PetPage } from "../pets/list-query.js";
import { parseNewPet, type NewPet, type NewPetInput, type Pet } from "../pets/pet.js";
import type { StorageFailure } from "../storage/storage.js";

/** A pet's id as a caller passes it: an int64. Text must be in canonical decimal form. */
export type PetIdInput = bigint | number | string;

/** One pet. */
export interface PetResult {
  readonly pet: Pet;
}

/** A pet that was added. */
export interface CreatedPet extends PetResult {
  /** Whether an earlier call with the same idempotency key added it. */
  readonly replayed: boolean;
}

/** A read whose input is validated. It reads when it is started, and never rejects. */
export type Read<T, E> = () => Promise<Result<T, E | StorageUnavailable>>;

/** Prepares to list pets, for a caller that is admitted or trusted. See `PetOperations.listPets`. */
export function prepareListPets(
  { storage }: Context,
  input: ListPetsInput,
): Read<PetPage, InvalidQuery> {
  const query = parseListQuery(input);
  if (query.isErr()) return () => Promise.resolve(err(query.error));
  return () =>
    read(
      () => storage.pets.list(query.value),
      (page) => ok(page),
    );
}

/** Prepares to find a pet, for a caller that is admitted or trusted. See `PetOperations.getPet`. */
export function prepareGetPet(
  { storage }: Context,
  input: PetIdInput,
): Read<PetResult, PetNotFound> {
  const id = typeof input === "string" ? parseInt64(input) : toInt64(input);
  if (id === undefined) return () => Promise.resolve(err(petNotFound()));
  return () =>
    read(
      () => storage.pets.find(id),
      (pet) => (pet === undefined ? err(petNotFound()) : ok({ pet })),
    );
}

async function read<Found, T, E>(
  call: () => Promise<Result<Found, StorageFailure>>,
  resultOf: (found: Found) => Result<T, E>,
): Promise<Result<T, E | StorageUnavailable>> {
  try {
    const found = await call();
    return found.isErr() ? err(storageUnavailable(found.error)) : resultOf(found.value);
  } catch (cause) {
    return err(storageUnavailable(cause));
  }
}

/** Waits for the result of `getPet`, and emits that this deprecated operation was used. */
export async function reportGetPet<T>(
  { emit, readClock }: Context,
  result: Promise<T>,
  keyId?: string,
): Promise<T> {
  const found = await result;
  emit({ type: "deprecated_operation_used", at: readClock().now, operation: "getPet", keyId });
  return found;
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
  return created.map((pet) => ({ pet, replayed: false })).mapErr(changeFailed);
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
  if (remembered.isErr()) return err(changeFailed(remembered.error));
  const creation = remembered.value;
  if (creation.fingerprint !== fingerprint) return err(idempotencyKeyReused());
  const pet = Object.freeze({ id: creation.petId, ...newPet });
  return ok({ pet, replayed: creation.replayed });
}
