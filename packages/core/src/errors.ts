import type { Quota } from "./limits/quota.js";

/** No API key was presented. */
export interface MissingApiKey {
  readonly code: "missing_api_key";
  readonly message: string;
}

/** The API key is malformed, unknown, revoked or expired: deliberately indistinguishable. */
export interface InvalidApiKey {
  readonly code: "invalid_api_key";
  readonly message: string;
}

/** A limit of the plan is used up (specification, "Limits", rule 1). The request cost nothing. */
export interface RateLimitExceeded {
  readonly code: "rate_limit_exceeded";
  readonly message: string;
  /** Whole seconds after which the same request is served; at least 1. */
  readonly retryAfterSeconds: number;
}

/** The key kept sending after refusals and is banned for a while (specification, "Limits", rule 3). */
export interface ApiKeyBanned {
  readonly code: "api_key_banned";
  readonly message: string;
  /** Whole seconds after which the same request is served; at least 1. */
  readonly retryAfterSeconds: number;
}

/** A list parameter is out of its bounds. */
export interface InvalidQuery {
  readonly code: "invalid_query";
  /** Names every wrong parameter. */
  readonly message: string;
}

/** The animal to be added is missing required fields or has invalid values. */
export interface InvalidPet {
  readonly code: "invalid_pet";
  /** Names every wrong field. */
  readonly message: string;
}

/** No animal has this identifier. */
export interface PetNotFound {
  readonly code: "pet_not_found";
  readonly message: string;
}

/** The storage failed; nothing was done. The same call may succeed later. */
export interface StorageUnavailable {
  readonly code: "storage_unavailable";
  readonly message: string;
  /** What the storage reported, for the host's own log; never shown to a caller. */
  readonly cause: unknown;
}

/** The store was closed by its host. */
export interface StoreClosed {
  readonly code: "store_closed";
  readonly message: string;
}

/** Why an API key could not be issued or changed: the values given are wrong. */
export interface InvalidKeyRequest {
  readonly code: "invalid_key_request";
  readonly message: string;
}

/** No API key has this id. */
export interface KeyNotFound {
  readonly code: "key_not_found";
  readonly message: string;
}

/** The API key is revoked or expired, so it cannot be rotated. */
export interface KeyInactive {
  readonly code: "key_inactive";
  readonly message: string;
}

/** Why a call was turned away before any operation ran. */
export type AdmissionError =
  MissingApiKey | InvalidApiKey | RateLimitExceeded | ApiKeyBanned | Unavailable;

/** Why the engine could not serve at all. */
export type Unavailable = StorageUnavailable | StoreClosed;

/** Every way in which `listPets` fails once admitted. */
export type ListPetsError = InvalidQuery | Unavailable;

/** Every way in which `createPet` fails once admitted. */
export type CreatePetError = InvalidPet | Unavailable;

/** Every way in which `getPet` fails once admitted. */
export type GetPetError = PetNotFound | Unavailable;

/** Every way in which a caller's calls fail: closed on `code`. */
export type PetStoreError = AdmissionError | ListPetsError | CreatePetError | GetPetError;

/** Every way in which managing API keys fails: closed on `code`. */
export type KeyError = InvalidKeyRequest | KeyNotFound | KeyInactive | Unavailable;

/** An error as a caller with an API key sees it: with what is left to that caller. */
export type WithQuota<E> = E & { readonly quota: Quota };

/** No API key was presented. */
export const missingApiKey = (): MissingApiKey => ({
  code: "missing_api_key",
  message: "An API key is required: send it as a bearer token.",
});

/** The API key is unknown, revoked, expired or malformed: which, nobody is told. */
export const invalidApiKey = (): InvalidApiKey => ({
  code: "invalid_api_key",
  message: "The API key is not valid.",
});

/** What is wrong with the query, each problem naming its parameter. */
export const invalidQuery = (problems: readonly string[]): InvalidQuery => ({
  code: "invalid_query",
  message: sentence(problems),
});

/** What is wrong with the animal, each problem naming its field. */
export const invalidPet = (problems: readonly string[]): InvalidPet => ({
  code: "invalid_pet",
  message: sentence(problems),
});

/** There is no animal of this id. */
export const petNotFound = (): PetNotFound => ({
  code: "pet_not_found",
  message: "No pet has this id.",
});

/** The storage failed. `cause` is for the host alone. */
export const storageUnavailable = (cause: unknown): StorageUnavailable => ({
  code: "storage_unavailable",
  message: "The storage is unavailable; nothing was done. Try again shortly.",
  cause,
});

/** The host has closed the store. */
export const storeClosed = (): StoreClosed => ({
  code: "store_closed",
  message: "The store is closed.",
});

/** What is wrong with what the host asked of its keys, each problem naming its field. */
export const invalidKeyRequest = (problems: readonly string[]): InvalidKeyRequest => ({
  code: "invalid_key_request",
  message: sentence(problems),
});

/** There is no key of this id. */
export const keyNotFound = (): KeyNotFound => ({
  code: "key_not_found",
  message: "No API key has this id.",
});

/** The key is revoked or expired, and cannot be rotated. */
export const keyInactive = (): KeyInactive => ({
  code: "key_inactive",
  message: "The API key is revoked or expired.",
});

function sentence(problems: readonly string[]): string {
  return `${problems.join("; ").replace(/\.$/, "")}.`;
}
