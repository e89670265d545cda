import type { PetStoreError } from "@petstore/core";
import { match, P } from "ts-pattern";

/** An error with a code and a message. */
interface ErrorOf<Code extends string> {
  readonly code: Code;
  readonly message: string;
}

/** The message itself is not valid HTTP, or its body ended early. */
export type BadRequest = ErrorOf<"bad_request">;
/** Nothing is at this path. */
export type NotFound = ErrorOf<"not_found">;
/** The request took too long to arrive (RFC 9110, section 15.5.9). */
export type RequestTimeout = ErrorOf<"request_timeout">;
/** The body is longer than allowed. */
export type PayloadTooLarge = ErrorOf<"payload_too_large">;
/** The body is not valid JSON. */
export type MalformedJson = ErrorOf<"malformed_json">;
/** The request expects something other than `100-continue` (RFC 9110, section 10.1.1). */
export type ExpectationFailed = ErrorOf<"expectation_failed">;
/** The request line and the header section, or the trailer section, are too long (RFC 6585, section 5). */
export type HeadersTooLarge = ErrorOf<"headers_too_large">;
/** A bug in the store or in the host. */
export type InternalError = ErrorOf<"internal_error">;

/** The path does not support this method. */
export interface MethodNotAllowed extends ErrorOf<"method_not_allowed"> {
  /** The methods of the path, as `Allow` lists them (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** The body is not JSON in UTF-8, or is compressed. */
export interface UnsupportedMediaType extends ErrorOf<"unsupported_media_type"> {
  /** The response header that names what is accepted (RFC 9110, section 15.5.16). */
  readonly accept: { readonly Accept: string } | { readonly "Accept-Encoding": string };
}

/** Every error of the adapter itself: a union closed on `code`. */
export type HttpError =
  | BadRequest
  | NotFound
  | MethodNotAllowed
  | RequestTimeout
  | PayloadTooLarge
  | UnsupportedMediaType
  | MalformedJson
  | ExpectationFailed
  | HeadersTooLarge
  | InternalError;

/** An error that stops a message from being read: in its syntax, its size or its pace. */
export type UnreadableMessage = BadRequest | RequestTimeout | PayloadTooLarge | HeadersTooLarge;

/** Every error that a response can carry: a union closed on `code`. */
export type Failure = PetStoreError | HttpError;

/** Creates a `BadRequest`; the message names the error in the request. */
export const badRequest = (message: string): BadRequest => ({ code: "bad_request", message });

/** Creates a `NotFound`: for a path that is no route, or is outside the base path. */
export const notFound = (): NotFound => ({
  code: "not_found",
  message: "Nothing is at this path.",
});

/** Creates a `MethodNotAllowed` of a path that supports these methods, such as `GET, HEAD`. */
export const methodNotAllowed = (allow: string): MethodNotAllowed => ({
  code: "method_not_allowed",
  message: `This path supports only ${allow}.`,
  allow,
});

export const requestTimeout = (): RequestTimeout => ({
  code: "request_timeout",
  message: "The request took too long to arrive.",
});

export const headersTooLarge = (): HeadersTooLarge => ({
  code: "headers_too_large",
  message: "The header section is too long.",
});

/** Creates the error of a body whose chunk extensions are longer than Node's parser allows. */
export const chunkExtensionsTooLong = (): PayloadTooLarge => ({
  code: "payload_too_large",
  message: "The chunk extensions are too long.",
});

/** Creates the error of a body of more than `limit` bytes. */
export const payloadTooLarge = (limit: number): PayloadTooLarge => ({
  code: "payload_too_large",
  message: `The body must not be longer than ${limit} bytes.`,
});

/** Creates the error of a body that is not declared as JSON in UTF-8. */
export const unsupportedMediaType = (): UnsupportedMediaType => ({
  code: "unsupported_media_type",
  message: "The body must be application/json in UTF-8.",
  accept: { Accept: "application/json" },
});

/** Creates the error of a body that is compressed. */
export const unsupportedContentCoding = (): UnsupportedMediaType => ({
  code: "unsupported_media_type",
  message: "The body must not be compressed.",
  accept: { "Accept-Encoding": "identity" },
});

/** Creates a `MalformedJson`; the message says what is wrong with the text. */
export const malformedJson = (message: string): MalformedJson => ({
  code: "malformed_json",
  message,
});

export const expectationFailed = (): ExpectationFailed => ({
  code: "expectation_failed",
  message: "The only supported expectation is 100-continue.",
});

/** Creates an `InternalError`. Clients learn nothing about its cause. */
export const internalError = (): InternalError => ({
  code: "internal_error",
  message: "Something went wrong on our side.",
});

/** The HTTP status of each error code (specification, "Errors"). */
export function statusOf(code: Failure["code"]): number {
  return match(code)
    .with(P.union("bad_request", "malformed_json", "invalid_query", "invalid_pet"), () => 400)
    .with("invalid_idempotency_key", () => 400)
    .with(P.union("missing_api_key", "invalid_api_key"), () => 401)
    .with(P.union("not_found", "pet_not_found"), () => 404)
    .with("method_not_allowed", () => 405)
    .with("request_timeout", () => 408)
    .with("payload_too_large", () => 413)
    .with("unsupported_media_type", () => 415)
    .with("expectation_failed", () => 417)
    .with("idempotency_key_reused", () => 422)
    .with(P.union("rate_limit_exceeded", "api_key_banned"), () => 429)
    .with("headers_too_large", () => 431)
    .with("internal_error", () => 500)
    .with(P.union("storage_unavailable", "store_closed"), () => 503)
    .exhaustive();
}
