import type { ResultAsync } from "neverthrow";
import type { Clock } from "./clock.js";
import type {
  AdmissionError,
  CreatePetError,
  GetPetError,
  ListPetsError,
  StorageUnavailable,
  WithQuota,
} from "./errors.js";
import type { Events } from "./events.js";
import type { KeyRing } from "./keys/key-ring.js";
import type { Plan } from "./limits/plan.js";
import type { Charged, Quota } from "./limits/window.js";
import type { CreatePetOptions } from "./pets/idempotency.js";
import type { ListPetsInput, PetPage } from "./pets/list-query.js";
import type { NewPetInput, Pet } from "./pets/pet.js";

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

/**
 * The three operations. `Extra` is part of every result and of every error of an operation;
 * `CommonError` can come from each of them.
 */
interface PetOperations<CommonError, Extra> {
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
   * @deprecated To be removed on 5 December 2030; list by status instead.
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
export interface Admission extends PetOperations<never, Charged>, Charged {
  /** The id of the request's API key. */
  readonly keyId: string;
  /** The plan of the request's API key. */
  readonly plan: string;
}

/** A pet store: the engine that `createPetStore` returns. */
export interface PetStore {
  /**
   * Returns the operations of the client with this API key. Charges nothing and does no I/O. `origin`,
   * normally the network address, limits callers without a valid key: callers with the same origin (for
   * IPv6, the same /64) share a bucket of the Free plan, and so do callers without an origin.
   */
  as(apiKey: string | undefined, origin?: string): Caller;
  /** Returns the quota of callers without a valid key from this origin, without charging it. */
  anonymousQuota(origin?: string): Quota;
  /** The clock of the store's windows, bans and expiries. */
  readonly clock: Clock;
  /** All plans by name: the standard plans and those of the host. */
  readonly plans: Readonly<Record<string, Plan>>;
  /** The host's own operations, without key and limits. */
  readonly trusted: TrustedPets;
  /** Issues and manages API keys. */
  readonly keys: KeyRing;
  /** The events of this process. */
  readonly events: Events;
  /**
   * Refuses new calls with `store_closed`, lets running calls finish, and closes the storage. Another
   * call returns the first one's result.
   */
  close(): ResultAsync<void, StorageUnavailable>;
}
