import type { Charged } from "./limits/quota.js";
import type { WindowName } from "./limits/windows.js";

/**
 * An expected failure. Unions of these are closed on `code`. The errors are types, not interfaces: few of their names
 * are public, and for a type without one the compiler writes its fields into a host's declarations.
 */
export type CodedError<Code extends string> = { readonly code: Code; readonly message: string };

/** No API key was presented. */
export type MissingApiKeyError = CodedError<"missing_api_key">;
export const missingApiKey = (): MissingApiKeyError =>
  coded("missing_api_key", "An API key is required: send it as a bearer token.");

/** The API key is malformed, unknown, revoked or expired. The error does not say which. */
export type InvalidApiKeyError = CodedError<"invalid_api_key">;
export const invalidApiKey = (): InvalidApiKeyError =>
  coded("invalid_api_key", "The API key is not valid.");

/** A limit is used up (specification, "Limits", rule 1). The request cost nothing. */
export type RateLimitExceededError = CodedError<"rate_limit_exceeded"> & {
  /** The window whose limit is used up; `undefined` in a remote client whose server does not tell. */
  readonly window: WindowName | undefined;
  /** The seconds until the window ends: whole, at least 1. The same request succeeds after them. */
  readonly retryAfterSeconds: number;
};
export const rateLimitExceeded = (
  limit: number,
  window: WindowName,
  retryAfterSeconds: number,
): RateLimitExceededError => ({
  ...coded(
    "rate_limit_exceeded",
    `The limit of ${count(limit, "request")} per ${window} is used up; come back in ${count(retryAfterSeconds, "second")}.`,
  ),
  window,
  retryAfterSeconds,
});

/** The key kept sending after refusals and is banned for a while (specification, "Limits", rule 3). */
export type ApiKeyBannedError = CodedError<"api_key_banned"> & {
  /** The seconds until the key is served again: whole, at least 1. The same request succeeds after them. */
  readonly retryAfterSeconds: number;
};
export const apiKeyBanned = (retryAfterSeconds: number): ApiKeyBannedError => ({
  ...coded(
    "api_key_banned",
    `The API key kept sending after refusals and is banned for a while; come back in ${count(retryAfterSeconds, "second")}.`,
  ),
  retryAfterSeconds,
});

/** A list parameter is invalid. The message names every wrong parameter. */
export type InvalidQueryError = CodedError<"invalid_query">;
export const invalidQuery = (problems: readonly string[]): InvalidQueryError =>
  coded("invalid_query", sentence(problems));

/** The new pet lacks required fields or has invalid values. The message names every wrong field. */
export type InvalidPetError = CodedError<"invalid_pet">;
export const invalidPet = (problems: readonly string[]): InvalidPetError =>
  coded("invalid_pet", sentence(problems));

/** An idempotency key must be 1 to 255 visible ASCII characters. */
export type InvalidIdempotencyKeyError = CodedError<"invalid_idempotency_key">;
export const invalidIdempotencyKey = (
  message = 'The idempotency key must be one value of 1 to 255 visible ASCII characters; over HTTP, a key with ", comma, semicolon or backslash needs quotes.',
): InvalidIdempotencyKeyError => coded("invalid_idempotency_key", message);

/** The idempotency key was used before, for another pet. Nothing was done. */
export type IdempotencyKeyReusedError = CodedError<"idempotency_key_reused">;
export const idempotencyKeyReused = (): IdempotencyKeyReusedError =>
  coded("idempotency_key_reused", "The idempotency key was used before, for another pet.");

/** No pet has this id. */
export type PetNotFoundError = CodedError<"pet_not_found">;
export const petNotFound = (): PetNotFoundError => coded("pet_not_found", "No pet has this id.");

/**
 * The storage failed, and the same call may succeed later. Nothing was done, unless the message says that the
 * change may have been stored.
 */
export type StorageUnavailableError = CodedError<"storage_unavailable"> & {
  /** The failure of the storage, for the host's own log. It is never shown to a client. */
  readonly cause: unknown;
};
export const storageUnavailable = (
  cause: unknown,
  message = NOTHING_WAS_DONE,
): StorageUnavailableError => ({
  ...coded("storage_unavailable", message),
  cause,
});

const NOTHING_WAS_DONE = "The storage is unavailable; nothing was done. Try again shortly.";
const MAY_BE_STORED = "The storage is unavailable, and the change may have been stored.";

export const changeFailed = (cause: unknown, mayBeStored: boolean): StorageUnavailableError =>
  storageUnavailable(cause, mayBeStored ? MAY_BE_STORED : NOTHING_WAS_DONE);

/** `close()` has reached its deadline; `calls` is how many calls had not ended. */
export const closeTimedOut = (calls: number, seconds: number): StorageUnavailableError => {
  const late = calls > 0 ? `${count(calls, "call")} did not end` : "the storage did not close";
  return storageUnavailable(
    undefined,
    `The store is closed, but ${late} within ${count(seconds, "second")}.`,
  );
};

/** The host has closed the store. */
export type StoreClosedError = CodedError<"store_closed">;
export const storeClosed = (): StoreClosedError => coded("store_closed", "The store is closed.");

/** An API key cannot be issued or changed as requested. The message names every wrong field. */
export type InvalidKeyRequestError = CodedError<"invalid_key_request">;
export const invalidKeyRequest = (problems: readonly string[]): InvalidKeyRequestError =>
  coded("invalid_key_request", sentence(problems));

/** No API key has this id or this secret, or the key has no secret with this hint. */
export type KeyNotFoundError = CodedError<"key_not_found">;
export const keyNotFound = (what: "id" | "secret" | "hint" = "id"): KeyNotFoundError =>
  coded(
    "key_not_found",
    what === "hint" ? "The API key has no secret with this hint." : `No API key has this ${what}.`,
  );

/** The API key is revoked or expired, so it cannot be rotated. */
export type KeyInactiveError = CodedError<"key_inactive">;
export const keyInactive = (): KeyInactiveError =>
  coded("key_inactive", "The API key is revoked or expired.");

/** The engine cannot serve any call at the moment. */
export type UnavailableError = StorageUnavailableError | StoreClosedError;

/** A request was refused before its operation ran. */
export type AdmissionError =
  | MissingApiKeyError
  | InvalidApiKeyError
  | RateLimitExceededError
  | ApiKeyBannedError
  | UnavailableError;

/** The failures of `listPets`, once the request is admitted. */
export type ListPetsError = InvalidQueryError | UnavailableError;

/** The failures of `createPet` that the caller caused. */
export type CreatePetInputError =
  InvalidIdempotencyKeyError | InvalidPetError | IdempotencyKeyReusedError;

/** The failures of `createPet`, once the request is admitted. */
export type CreatePetError = CreatePetInputError | UnavailableError;

/** The failures of `getPet`, once the request is admitted. */
export type GetPetError = PetNotFoundError | UnavailableError;

/** The failures of each operation (specification, "Endpoints"), once the request is admitted. */
export type OperationErrors = {
  readonly listPets: ListPetsError;
  readonly createPet: CreatePetError;
  readonly getPet: GetPetError;
};

/** The name of an operation (specification, "Endpoints"). `Extract` makes declarations show the names. */
export type OperationName = Extract<keyof OperationErrors, string>;

/** Every error that a call with an API key can have. A `switch` over its `code` is checked by the compiler. */
export type PetStoreError = AdmissionError | OperationErrors[OperationName];

/** Every error that a call of `store.keys` can have. */
export type KeyError =
  InvalidKeyRequestError | KeyNotFoundError | KeyInactiveError | UnavailableError;

/** An error as a caller receives it: with the remaining quota. */
export type WithQuota<E> = E & Charged;

function coded<Code extends string>(code: Code, message: string): CodedError<Code> {
  return { code, message };
}

function sentence(problems: readonly string[]): string {
  return `${problems.join("; ").replace(/\.$/, "")}.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
