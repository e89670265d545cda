import { err, ok, type Result, type ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import { idempotencyKeyReused, petNotFound, type UnavailableError } from "../errors.js";
import type { CodedError, CreatePetError, GetPetError, ListPetsError } from "../errors.js";
import { fingerprintOf, parseCreatePetOptions, tokenOf } from "../pets/idempotency.js";
import type { CreatePetOptions } from "../pets/idempotency.js";
import { parseInt64, toInt64 } from "../pets/int64.js";
import { parseListQuery, type ListPetsInput, type PetPage } from "../pets/list-query.js";
import { parseNewPet, petOf, type NewPet, type NewPetInput, type Pet } from "../pets/pet.js";
import { change, read } from "../storage/outcomes.js";
import { isDeprecated, type OperationName } from "../operations.js";

/** A pet's id as a caller passes it: an int64. Text must be in canonical decimal form. */
type PetIdInput = bigint | number | string;

export type PetResult = {
  readonly pet: Pet;
};

export type CreatedPet = PetResult & {
  /** Whether an earlier call with the same idempotency key added it. */
  readonly replayed: boolean;
};

/** `Extra` is part of every result and of every error of an operation; `CommonError` can come from each of them. */
export interface PetOperations<CommonError, Extra> extends Record<OperationName, unknown> {
  /** Lists pets in ascending order of id (specification, "GET /pets"). */
  listPets(
    input?: ListPetsInput,
  ): ResultAsync<PetPage & Extra, (ListPetsError & Extra) | CommonError>;
  /** Adds a pet (specification, "POST /pets"). With an idempotency key, the call is safe to repeat. */
  createPet(
    input: NewPetInput,
    options?: CreatePetOptions,
  ): ResultAsync<CreatedPet & Extra, (CreatePetError & Extra) | CommonError>;
  /**
   * Finds one pet (specification, "GET /pets/{petId}"). An id that is not an int64 is `pet_not_found`.
   * @deprecated To be removed on 5 December 2030. List by status, or one pet: `{ after: id - 1n, limit: 1 }`.
   */
  getPet(id: PetIdInput): ResultAsync<PetResult & Extra, (GetPetError & Extra) | CommonError>;
}

/** `prepare` validates, and returns what may start before a charge is stored; `complete` has the rest. */
export type Perform<CommonError, Extra> = <Started, T extends object, E extends CodedError<string>>(
  prepare: () => () => Started,
  complete: (started: Started, keyId?: string) => Promise<Result<T, E>>,
) => ResultAsync<T & Extra, ((E | UnavailableError) & Extra) | CommonError>;

export function operationsOf<CommonError, Extra>(
  context: Context,
  perform: Perform<CommonError, Extra>,
): PetOperations<CommonError, Extra> {
  const performOf = (operation: OperationName): Perform<CommonError, Extra> => {
    if (!isDeprecated(operation)) return perform;
    return (prepare, complete) =>
      perform(prepare, async (started, keyId) => {
        const result = await complete(started, keyId);
        context.emit({ type: "deprecated_operation_used", operation, keyId });
        return result;
      });
  };
  return {
    listPets: (input = {}) => performOf("listPets")(() => prepareListPets(context, input), asItIs),
    createPet: (input, options = {}) =>
      performOf("createPet")(prepareNothing, (_, keyId) =>
        createPet(context, input, options, keyId),
      ),
    getPet: (id) => performOf("getPet")(() => prepareGetPet(context, id), asItIs),
  };
}

const asItIs = <T>(started: T): T => started;
const prepareNothing = () => (): void => undefined;

/** A read whose input is validated. It reads when it is started, and never rejects. */
type Read<T, Code extends string> = () => Promise<Result<T, CodedError<Code> | UnavailableError>>;

function prepareListPets({ storage }: Context, input: unknown): Read<PetPage, "invalid_query"> {
  const query = parseListQuery(input);
  if (query.isErr()) return () => Promise.resolve(err(query.error));
  return () => read(() => storage.pets.list(query.value), copyOfPage);
}

/** A storage may return the same frozen page to several callers. */
const copyOfPage = ({ pets, next }: PetPage) => ok({ pets, next });

function prepareGetPet({ storage }: Context, input: unknown): Read<PetResult, "pet_not_found"> {
  const id = typeof input === "string" ? parseInt64(input) : toInt64(input);
  if (id === undefined) return () => Promise.resolve(err(petNotFound()));
  return () => read(() => storage.pets.find(id), existing);
}

const existing = (pet: Pet | undefined) => (pet === undefined ? err(petNotFound()) : ok({ pet }));

async function createPet(
  context: Context,
  input: unknown,
  options: unknown,
  keyId?: string,
): Promise<Result<CreatedPet, CreatePetError>> {
  const key = parseCreatePetOptions(options);
  if (key.isErr()) return err(key.error);
  const newPet = parseNewPet(input);
  if (newPet.isErr()) return err(newPet.error);

  // Before anything is stored: the clock may fail.
  const { now } = context.readClock();
  const isOnce = key.value !== undefined && context.idempotencyKeyLife > 0;
  const created = isOnce
    ? await createOnce(context, newPet.value, tokenOf(key.value, keyId), now)
    : await change(
        () => context.storage.pets.create(newPet.value),
        ({ id }) => ok({ pet: petOf(id, newPet.value), replayed: false }),
      );
  if (created.isOk() && !created.value.replayed) {
    context.emit({ type: "pet_created", pet: created.value.pet, keyId }, now);
  }
  return created;
}

function createOnce(
  { storage, idempotencyKeyLife }: Context,
  newPet: NewPet,
  token: string,
  now: number,
): Promise<Result<CreatedPet, CreatePetError>> {
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
