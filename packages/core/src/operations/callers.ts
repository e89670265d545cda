import { err, ok, type Result, type ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import type {
  AdmissionError,
  CreatePetError,
  GetPetError,
  ListPetsError,
  OperationName,
  UnavailableError,
  WithQuota,
} from "../errors.js";
import { parseApiKey } from "../keys/key-format.js";
import { withCharge, type Charged } from "../limits/quota.js";
import type { CreatePetOptions } from "../pets/idempotency.js";
import type { ListPetsInput, PetPage } from "../pets/list-query.js";
import type { NewPetInput } from "../pets/pet.js";
import { admit, type ChargedKey } from "./admit.js";
import type { Calls } from "./calls.js";
import {
  createPet,
  prepareGetPet,
  prepareListPets,
  reportGetPet,
  type CreatedPet,
  type PetIdInput,
  type PetResult,
} from "./pets.js";

/**
 * The three operations. `Extra` is part of every result and of every error of an operation;
 * `CommonError` can come from each of them.
 */
interface PetOperations<CommonError, Extra> extends Record<OperationName, unknown> {
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

/**
 * The operations of a caller with an API key. Code written against `Pets<TransportError>` accepts both a
 * caller in this process and a remote client.
 */
export type Pets<ExtraError = never> = PetOperations<
  WithQuota<AdmissionError> | ExtraError,
  Charged
>;

/** The host's own operations: without key and limits, with the same validation. */
export type TrustedPets = PetOperations<never, unknown>;

/** The operations of a client with an API key. Each call authenticates and takes one token. */
export interface Caller extends Pets {
  /**
   * Authenticates and takes one token before the operation is known. For a transport, which may refuse
   * the request for its own reasons.
   */
  admit(): ResultAsync<Admission, WithQuota<AdmissionError>>;
}

/** One admitted request, which is already charged. A transport performs at most one operation on it. */
export interface Admission extends PetOperations<never, Charged>, ChargedKey {}

export function createCaller(
  context: Context,
  calls: Calls,
  apiKey: string | undefined,
  clientAddress: string | undefined,
): Caller {
  let digest: ReturnType<typeof parseApiKey> | undefined;
  const admitRequest = <T>(start: () => T) =>
    admit(context, (digest ??= parseApiKey(apiKey)), clientAddress, start);
  const anonymous = () => ({ quota: context.anonymous.peek(clientAddress) });

  /**
   * Performs an operation. `prepare` validates the input, and returns what is started while the request is charged;
   * `complete` has the rest, for after the charge.
   */
  const perform = <Started, T extends object, E extends object>(
    prepare: () => () => Started,
    complete: (started: Started, keyId: string) => Promise<Result<T, E>>,
  ): ResultAsync<T & Charged, WithQuota<E | AdmissionError>> => {
    let charged: ChargedKey | undefined;
    const call = async (): Promise<Result<T & Charged, WithQuota<E | AdmissionError>>> => {
      const admitted = await admitRequest(prepare());
      if (admitted.isErr()) return err(admitted.error);
      const [key, started] = admitted.value;
      charged = key;
      return chargedResult(await complete(started, key.keyId), key);
    };
    return calls.run(call, (error) => withCharge(error, charged ?? anonymous()));
  };

  return {
    admit: () =>
      calls.run(
        async () =>
          (await admitRequest(() => undefined)).map(([charged]) =>
            createAdmission(context, calls, charged),
          ),
        (error) => withCharge(error, anonymous()),
      ),
    listPets: (input = {}) =>
      perform(
        () => prepareListPets(context, input),
        (pets) => pets,
      ),
    createPet: (input, options = {}) =>
      perform(
        () => () => undefined,
        (_, keyId) => createPet(context, input, options, keyId),
      ),
    getPet: (id) =>
      perform(
        () => prepareGetPet(context, id),
        (pet, keyId) => reportGetPet(context, pet, keyId),
      ),
  };
}

function createAdmission(context: Context, calls: Calls, charged: ChargedKey): Admission {
  const perform = <T extends object, E extends object>(operation: () => Promise<Result<T, E>>) =>
    calls.run(
      async () => chargedResult(await operation(), charged),
      (error) => withCharge(error, charged),
    );
  return withCharge(operationsOf<Charged>(context, perform, charged.keyId), charged);
}

function chargedResult<T extends object, E extends object>(
  result: Result<T, E>,
  charged: ChargedKey,
): Result<T & Charged, WithQuota<E>> {
  return result.isErr()
    ? err(withCharge(result.error, charged))
    : ok(withCharge(result.value, charged));
}

export function createTrustedPets(context: Context, calls: Calls): TrustedPets {
  return Object.freeze(operationsOf(context, (call) => calls.run(call, (error) => error)));
}

/** The operations for a caller that is admitted or trusted. */
function operationsOf<Extra>(
  context: Context,
  perform: <T extends object, E extends object>(
    call: () => Promise<Result<T, E>>,
  ) => ResultAsync<T & Extra, (E | UnavailableError) & Extra>,
  keyId?: string,
): PetOperations<never, Extra> {
  return {
    listPets: (input = {}) => perform(() => prepareListPets(context, input)()),
    createPet: (input, options = {}) => perform(() => createPet(context, input, options, keyId)),
    getPet: (id) => perform(() => reportGetPet(context, prepareGetPet(context, id)(), keyId)),
  };
}
