import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  idempotencyKeyReused,
  petNotFound,
  type CreatePetInputError,
  type IdempotencyKeyReusedError,
  type InvalidQueryError,
  type PetNotFoundError,
  type StorageUnavailableError,
} from "../errors.js";
import { fingerprintOf, parseCreatePetOptions, tokenOf } from "../pets/idempotency.js";
import { parseInt64, toInt64 } from "../pets/int64.js";
import { parseListQuery, type PetPage } from "../pets/list-query.js";
import { parseNewPet, petOf, type NewPet, type Pet } from "../pets/pet.js";
import { change, read } from "../storage/outcomes.js";

/** A pet's id as a caller passes it: an int64. Text must be in canonical decimal form. */
export type PetIdInput = bigint | number | string;

/** The success of `getPet`. */
export type PetResult = {
  readonly pet: Pet;
};

/** A pet that was added. */
export type CreatedPet = PetResult & {
  /** Whether an earlier call with the same idempotency key added it. */
  readonly replayed: boolean;
};

/** A read whose input is validated. It reads when it is started, and never rejects. */
export type Read<T, E> = () => Promise<Result<T, E | StorageUnavailableError>>;

/** Prepares to list pets, for a caller that is admitted or trusted. See `PetOperations.listPets`. */
export function prepareListPets(
  { storage }: Context,
  input: unknown,
): Read<PetPage, InvalidQueryError> {
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
  input: unknown,
): Read<PetResult, PetNotFoundError> {
  const id = typeof input === "string" ? parseInt64(input) : toInt64(input);
  if (id === undefined) return () => Promise.resolve(err(petNotFound()));
  return () =>
    read(
      () => storage.pets.find(id),
      (pet) => (pet === undefined ? err(petNotFound()) : ok({ pet })),
    );
}

/** Waits for the result of `getPet`, and emits that this deprecated operation was used. */
export async function reportGetPet<T>(
  { emit, lastReading }: Context,
  result: Promise<T>,
  keyId?: string,
): Promise<T> {
  const found = await result;
  emit({ type: "deprecated_operation_used", at: lastReading().now, operation: "getPet", keyId });
  return found;
}

/** Creates a pet, for a caller that is admitted or trusted. See `PetOperations.createPet`. */
export async function createPet(
  context: Context,
  input: unknown,
  options: unknown,
  keyId?: string,
): Promise<Result<CreatedPet, CreatePetInputError | StorageUnavailableError>> {
  const key = parseCreatePetOptions(options);
  if (key.isErr()) return err(key.error);
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return err(newPet.error);

  // Before anything is stored: the clock may fail.
  const { now } = context.readClock();
  const isOnce = key.value !== undefined && context.idempotencyKeyLife > 0;
  const created = isOnce
    ? await createOnce(context, newPet.value, tokenOf(key.value, keyId), now)
    : await createAnew(context, newPet.value);
  if (created.isErr()) return err(created.error);

  const { pet, replayed } = created.value;
  if (!replayed) context.emit({ type: "pet_created", at: now, pet, keyId });
  return ok({ pet, replayed });
}

function createAnew(
  { storage }: Context,
  newPet: NewPet,
): Promise<Result<CreatedPet, StorageUnavailableError>> {
  return change(
    () => storage.pets.create(newPet),
    ({ id }) => ok({ pet: petOf(id, newPet), replayed: false }),
  );
}

function createOnce(
  { storage, idempotencyKeyLife }: Context,
  newPet: NewPet,
  token: string,
  now: number,
): Promise<Result<CreatedPet, IdempotencyKeyReusedError | StorageUnavailableError>> {
  const fingerprint = fingerprintOf(newPet);
  const request = { token, fingerprint, now, expiresAt: now + idempotencyKeyLife };
  return change(
    () => storage.pets.createOnce(newPet, request),
    (creation) => {
      if (creation.fingerprint !== fingerprint) return err(idempotencyKeyReused());
      return ok({ pet: petOf(creation.petId, newPet), replayed: creation.replayed });
    },
  );
}
