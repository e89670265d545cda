import type { ResultAsync } from "neverthrow";
import type {
  AdmissionError,
  CreatePetError,
  GetPetError,
  ListPetsError,
  StorageUnavailable,
  WithQuota,
} from "./errors.js";
import type { Events } from "./events/events.js";
import type { KeyRing } from "./keys/key-ring.js";
import type { Quota } from "./limits/quota.js";
import type { ListPetsInput, PetPage } from "./pets/list-query.js";
import type { NewPetInput } from "./pets/new-pet.js";
import type { Pet } from "./pets/pet.js";

/** An animal's identifier as a caller gives it: only a canonical decimal int64 names an animal. */
export type PetIdInput = bigint | number | string;

/** One animal, as an operation answers it. */
export interface PetResult {
  readonly pet: Pet;
}

/** What an answer to a caller with an API key always carries. */
export interface Charged {
  /** What is left to the caller after this request. */
  readonly quota: Quota;
}

/** The store's operations for its own host: no key, no limit, the same validation. */
export interface TrustedPets {
  /** Lists animals in ascending order of id (specification, "GET /pets"). */
  listPets(input?: ListPetsInput): ResultAsync<PetPage, ListPetsError>;
  /** Adds an animal (specification, "POST /pets"). */
  createPet(input: NewPetInput): ResultAsync<PetResult, CreatePetError>;
  /**
   * Fetches one animal (specification, "GET /pets/{petId}").
   * @deprecated To be removed on 5 December 2030; list by status instead.
   */
  getPet(id: PetIdInput): ResultAsync<PetResult, GetPetError>;
}

/**
 * One admitted request: authenticated, and its token already taken. A transport performs at most one
 * operation on it, or none when it has a reason of its own to refuse.
 */
export interface Admission extends Charged {
  /** The id of the API key that the request came with. */
  readonly keyId: string;
  /** Lists animals in ascending order of id (specification, "GET /pets"). */
  listPets(input?: ListPetsInput): ResultAsync<PetPage & Charged, WithQuota<ListPetsError>>;
  /** Adds an animal (specification, "POST /pets"). */
  createPet(input: NewPetInput): ResultAsync<PetResult & Charged, WithQuota<CreatePetError>>;
  /**
   * Fetches one animal (specification, "GET /pets/{petId}").
   * @deprecated To be removed on 5 December 2030; list by status instead.
   */
  getPet(id: PetIdInput): ResultAsync<PetResult & Charged, WithQuota<GetPetError>>;
}

/** The store as the holder of one API key sees it. Each call authenticates and takes one token. */
export interface Caller {
  /**
   * Authenticates and takes one token, and leaves the operation for later: for a transport that
   * must be able to refuse before it knows the operation.
   */
  admit(): ResultAsync<Admission, WithQuota<AdmissionError>>;
  /** Lists animals in ascending order of id (specification, "GET /pets"). */
  listPets(
    input?: ListPetsInput,
  ): ResultAsync<PetPage & Charged, WithQuota<AdmissionError | ListPetsError>>;
  /** Adds an animal (specification, "POST /pets"). */
  createPet(
    input: NewPetInput,
  ): ResultAsync<PetResult & Charged, WithQuota<AdmissionError | CreatePetError>>;
  /**
   * Fetches one animal (specification, "GET /pets/{petId}").
   * @deprecated To be removed on 5 December 2030; list by status instead.
   */
  getPet(id: PetIdInput): ResultAsync<PetResult & Charged, WithQuota<AdmissionError | GetPetError>>;
}

/** A pet store: the engine that `createPetStore` returns. */
export interface PetStore {
  /**
   * The store as the holder of this API key sees it. Costs nothing and does no I/O until it is used.
   * `origin` tells callers without a valid key apart, normally the network address: they share one
   * bucket of the Free plan for each origin (for IPv6: each /64), and one for all without an origin.
   */
  as(apiKey: string | undefined, origin?: string): Caller;
  /** What is left to callers without a valid key from this origin. Costs nothing. */
  anonymousQuota(origin?: string): Quota;
  /** The host's own way to the pets, past keys and limits. */
  readonly trusted: TrustedPets;
  /** Issues and manages API keys. */
  readonly keys: KeyRing;
  /** Tells the host what happens in this process. */
  readonly events: Events;
  /**
   * Refuses new calls with `store_closed`, lets running ones finish, then closes the storage.
   * Closing again answers what the first closing answered.
   */
  close(): ResultAsync<void, StorageUnavailable>;
}
