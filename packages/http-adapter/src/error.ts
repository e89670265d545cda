import type { PetStoreError } from "@petstore/core";
import { keysOf } from "@petstore/core/facts";
import { engineErrors } from "@petstore/core/internal";

export type HttpErrorCode = keyof typeof ownErrors;

export interface HttpError<Code extends string = HttpErrorCode> {
  readonly code: Code;
  readonly message: string;
  /** The headers of its response, besides those of every response. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that stops a message from being read: in its syntax, its size or its pace. */
export type UnreadableMessage = HttpError<
  "bad_request" | "request_timeout" | "payload_too_large" | "headers_too_large"
>;

export type ResponseError = PetStoreError | HttpError;
export type ErrorCode = ResponseError["code"];

export const badRequest = (message: string) => errorOf("bad_request", message);

export const endedEarly = () => badRequest("The body ended early.");

export const notFound = () => errorOf("not_found", "Nothing is at this path.");

/** `allow` has the methods of the path, such as `GET, HEAD` (RFC 9110, section 10.2.1). */
export const methodNotAllowed = (allow: string) =>
  errorOf("method_not_allowed", `This path supports only ${allow}.`, { Allow: allow });

export const requestTimeout = () =>
  errorOf("request_timeout", "The request took too long to arrive.");

/** For the request line and the header section, or the trailer section. */
export const headersTooLarge = () =>
  errorOf("headers_too_large", "The header section is too long.");

export const chunkExtensionsTooLong = () =>
  errorOf("payload_too_large", "The chunk extensions are too long.");

export const payloadTooLarge = (limit: number) =>
  errorOf("payload_too_large", `The body must not be longer than ${limit} bytes.`);

export const unsupportedMediaType = () =>
  errorOf("unsupported_media_type", "The body must be application/json in UTF-8.", {
    Accept: "application/json",
  });

export const unsupportedContentCoding = () =>
  errorOf("unsupported_media_type", "The body must not be compressed.", {
    "Accept-Encoding": "identity",
  });

export const malformedJson = (message = "The body is not valid JSON.") =>
  errorOf("malformed_json", message);

/** RFC 9110, section 10.1.1. */
export const expectationFailed = () =>
  errorOf("expectation_failed", "The only supported expectation is 100-continue.");

/** A bug in the store or in the host. Clients learn nothing about its cause. */
export const internalError = () => errorOf("internal_error", "Something went wrong on our side.");

function errorOf<Code extends string>(
  code: Code,
  message: string,
  headers?: Readonly<Record<string, string>>,
): HttpError<Code> {
  return headers === undefined ? { code, message } : { code, message, headers };
}

interface ErrorFacts<Code = string> {
  /** The status of its response (specification, "Errors"; RFC 9110, section 15.5; RFC 6585, section 5). */
  readonly status: number;
  /** When it occurs, as a sentence of the OpenAPI document. By default, the message of the example. */
  readonly occasion?: string;
  /** One as it is sent. */
  readonly example: { readonly code: Code; readonly message: string };
}

/** Which operations have an error of the adapter. `message`: all, and also a request whose operation is not known. */
type Place = "message" | "every operation" | "body" | "no operation";

const ownErrors = {
  bad_request: {
    status: 400,
    place: "message",
    occasion: "The request is not valid HTTP, or its body ended early.",
    example: badRequest("There is more than one Host header."),
  },
  malformed_json: { status: 400, place: "body", example: malformedJson() },
  not_found: { status: 404, place: "no operation", example: notFound() },
  method_not_allowed: { status: 405, place: "no operation", example: methodNotAllowed("GET") },
  request_timeout: { status: 408, place: "message", example: requestTimeout() },
  payload_too_large: {
    status: 413,
    place: "body",
    occasion: "The body is longer than the server allows.",
    example: payloadTooLarge(65_536),
  },
  unsupported_media_type: { status: 415, place: "body", example: unsupportedMediaType() },
  expectation_failed: { status: 417, place: "every operation", example: expectationFailed() },
  headers_too_large: { status: 431, place: "message", example: headersTooLarge() },
  internal_error: { status: 500, place: "every operation", example: internalError() },
} satisfies Readonly<Record<string, ErrorFacts & { readonly place: Place }>>;

/** `operations` says which operation has which of them. */
const ofEngine: { readonly [Code in PetStoreError["code"]]: ErrorFacts<Code> } = {
  invalid_query: {
    status: 400,
    occasion: "A query parameter is invalid, and the message names it.",
    example: engineErrors.invalidQuery(["limit must be an integer from 1 to 100"]),
  },
  invalid_pet: {
    status: 400,
    occasion: "A required field is missing or a value is invalid, and the message names each.",
    example: engineErrors.invalidPet(["categoryId must be an int64 integer"]),
  },
  invalid_idempotency_key: { status: 400, example: engineErrors.invalidIdempotencyKey() },
  idempotency_key_reused: { status: 422, example: engineErrors.idempotencyKeyReused() },
  missing_api_key: { status: 401, example: engineErrors.missingApiKey() },
  invalid_api_key: {
    status: 401,
    occasion: "The API key is malformed, unknown, revoked or expired.",
    example: engineErrors.invalidApiKey(),
  },
  pet_not_found: { status: 404, example: engineErrors.petNotFound() },
  rate_limit_exceeded: {
    status: 429,
    occasion: "A limit of the plan is used up.",
    example: engineErrors.rateLimitExceeded(60, "minute", 60),
  },
  api_key_banned: { status: 429, example: engineErrors.apiKeyBanned(60) },
  storage_unavailable: {
    status: 503,
    occasion:
      "The storage failed. Nothing was done, unless the message says that the change may have been stored.",
    example: engineErrors.storageUnavailable(undefined),
  },
  store_closed: { status: 503, example: engineErrors.storeClosed() },
};

/** What is known of each error: responses and the OpenAPI document follow from this table. */
export const errors: Readonly<Record<ErrorCode, ErrorFacts & { readonly place?: Place }>> = {
  ...ownErrors,
  ...ofEngine,
};

export const errorCodes = keysOf(errors);

export const statusOf = (code: ErrorCode): number => errors[code].status;
