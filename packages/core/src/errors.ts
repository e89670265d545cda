import type { Charged } from "./limits/quota.js";
import type { WindowName } from "./limits/windows.js";
import type { OperationName, operations } from "./operations.js";
import { count } from "./validation/text.js";

/**
 * An expected failure. Unions of these are closed on `code`. The errors are types, not interfaces: few of their names
 * are public, and for a type without one the compiler writes its fields into a host's declarations.
 */
export type CodedError<Code extends string> = { readonly code: Code; readonly message: string };

export const missingApiKey = () =>
  coded("missing_api_key", "An API key is required: send it as a bearer token.");

/** The API key is malformed, unknown, revoked or expired. The error does not say which. */
export const invalidApiKey = () => coded("invalid_api_key", "The API key is not valid.");

export type KeylessError = CodedError<"missing_api_key"> | CodedError<"invalid_api_key">;

/** A limit is used up (specification, "Limits", rule 1). The request cost nothing. */
type RateLimitExceededError = RefusedForNow<"rate_limit_exceeded"> & {
  /** The window whose limit is used up; `undefined` in a remote client whose server does not tell. */
  readonly window: WindowName | undefined;
};
export const rateLimitExceeded = (
  limit: number,
  window: WindowName,
  retryAfterSeconds: number,
): RateLimitExceededError => {
  const used = `The limit of ${count(limit, "request")} per ${window} is used up`;
  const message = `${used}; come back in ${count(retryAfterSeconds, "second")}.`;
  return { code: "rate_limit_exceeded", message, window, retryAfterSeconds };
};

type RefusedForNow<Code extends string> = CodedError<Code> & {
  /** The seconds until the window or the ban ends: whole, at least 1. The same request succeeds after them. */
  readonly retryAfterSeconds: number;
};

/** The key kept sending after refusals and is banned for a while (specification, "Limits", rule 3). */
export const apiKeyBanned = (retryAfterSeconds: number): RefusedForNow<"api_key_banned"> => {
  const banned = "The API key kept sending after refusals and is banned for a while";
  const message = `${banned}; come back in ${count(retryAfterSeconds, "second")}.`;
  return { code: "api_key_banned", message, retryAfterSeconds };
};

/** A list parameter is invalid. The message names every wrong parameter. */
export const invalidQuery = (problems: readonly string[]) =>
  coded("invalid_query", sentence(problems));

/** The new pet lacks required fields or has invalid values. The message names every wrong field. */
export const invalidPet = (problems: readonly string[]) => coded("invalid_pet", sentence(problems));

export type InvalidIdempotencyKeyError = CodedError<"invalid_idempotency_key">;
export const invalidIdempotencyKey = (
  message = 'The idempotency key must be one value of 1 to 255 visible ASCII characters; over HTTP, a key with ", comma, semicolon or backslash needs quotes.',
) => coded("invalid_idempotency_key", message);

/** The idempotency key was used before, for another pet. Nothing was done. */
export const idempotencyKeyReused = () =>
  coded("idempotency_key_reused", "The idempotency key was used before, for another pet.");

export const petNotFound = () => coded("pet_not_found", "No pet has this id.");

/** The storage failed; the same call may succeed later. */
export type StorageUnavailableError = CodedError<"storage_unavailable"> & {
  /** The failure of the storage, for the host's own log. It is never shown to a client. */
  readonly cause: unknown;
  /** Whether the change may have been stored all the same, so that a repeat may store it twice. Default: no. */
  readonly mayBeStored?: true;
};
export const storageUnavailable = (
  cause: unknown,
  message = "The storage is unavailable; nothing was done. Try again shortly.",
): StorageUnavailableError => ({ ...coded("storage_unavailable", message), cause });

export const mayBeStored = (cause: unknown): StorageUnavailableError => ({
  ...storageUnavailable(cause, "The storage is unavailable, and the change may have been stored."),
  mayBeStored: true,
});

/** `close()` has reached its deadline; `calls` is how many calls had not ended. */
export const closeTimedOut = (calls: number, seconds: number): StorageUnavailableError => {
  const late = calls > 0 ? `${count(calls, "call")} did not end` : "the storage did not close";
  const message = `The store is closed, but ${late} within ${count(seconds, "second")}.`;
  return storageUnavailable(undefined, message);
};

export const storeClosed = () => coded("store_closed", "The store is closed.");

/** An API key cannot be issued or changed as requested. The message names every wrong field. */
export const invalidKeyRequest = (problems: readonly string[]) =>
  coded("invalid_key_request", sentence(problems));

/** No API key has this id or this secret, or the key has no secret with this hint. */
export const keyNotFound = (what: "id" | "secret" | "hint" = "id") =>
  coded(
    "key_not_found",
    what === "hint" ? "The API key has no secret with this hint." : `No API key has this ${what}.`,
  );

export const keyInactive = () => coded("key_inactive", "The API key is revoked or expired.");

/** The engine cannot serve any call at the moment. */
export type UnavailableError = StorageUnavailableError | CodedError<"store_closed">;

/** A request was refused before its operation ran. */
export type AdmissionError =
  KeylessError | RateLimitExceededError | RefusedForNow<"api_key_banned"> | UnavailableError;

type EachCoded<Code> = Code extends string ? CodedError<Code> : never;

/** The failures of each operation, once the request is admitted. */
export type OperationErrors = {
  readonly [Name in OperationName]:
    EachCoded<keyof (typeof operations)[Name]["errors"]> | UnavailableError;
};

export type ListPetsError = OperationErrors["listPets"];
export type CreatePetError = OperationErrors["createPet"];
export type GetPetError = OperationErrors["getPet"];

/** Every error that a call with an API key can have. A `switch` over its `code` is checked by the compiler. */
export type PetStoreError = AdmissionError | OperationErrors[OperationName];

/** Every error that a call of `store.keys` can have. */
export type KeyError =
  EachCoded<"invalid_key_request" | "key_not_found" | "key_inactive"> | UnavailableError;

/** An error as a caller receives it: with the remaining quota. */
export type WithQuota<E> = E & Charged;

function coded<Code extends string>(code: Code, message: string): CodedError<Code> {
  return { code, message };
}

function sentence(problems: readonly string[]): string {
  return `${problems.join("; ").replace(/\.$/, "")}.`;
}
