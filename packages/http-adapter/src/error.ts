import type { PetStoreError } from "@petstore/core";
import { statuses } from "@petstore/wire";

/** What every error has beside its `code`. */
interface WithMessage {
  readonly message: string;
}

/** The message itself is not valid HTTP, or its body ended early. */
export interface BadRequestError extends WithMessage {
  readonly code: "bad_request";
}

/** Nothing is at this path. */
export interface NotFoundError extends WithMessage {
  readonly code: "not_found";
}

/** The request took too long to arrive (RFC 9110, section 15.5.9). */
export interface RequestTimeoutError extends WithMessage {
  readonly code: "request_timeout";
}

/** The body is longer than allowed. */
export interface PayloadTooLargeError extends WithMessage {
  readonly code: "payload_too_large";
}

/** The body is not valid JSON. */
export interface MalformedJsonError extends WithMessage {
  readonly code: "malformed_json";
}

/** The request expects something other than `100-continue` (RFC 9110, section 10.1.1). */
export interface ExpectationFailedError extends WithMessage {
  readonly code: "expectation_failed";
}

/** The request line and the header section, or the trailer section, are too long (RFC 6585, section 5). */
export interface HeadersTooLargeError extends WithMessage {
  readonly code: "headers_too_large";
}

/** A bug in the store or in the host. */
export interface InternalError extends WithMessage {
  readonly code: "internal_error";
}

/** The path does not support this method. */
export interface MethodNotAllowedError extends WithMessage {
  readonly code: "method_not_allowed";
  /** The methods of the path, as `Allow` lists them (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** The body is not JSON in UTF-8, or is compressed. */
export interface UnsupportedMediaTypeError extends WithMessage {
  readonly code: "unsupported_media_type";
  /** The response header that names what is accepted (RFC 9110, section 15.5.16). */
  readonly accept: { readonly Accept: string } | { readonly "Accept-Encoding": string };
}

/** Every error of the adapter itself: a union closed on `code`. */
export type HttpError =
  | BadRequestError
  | NotFoundError
  | MethodNotAllowedError
  | RequestTimeoutError
  | PayloadTooLargeError
  | UnsupportedMediaTypeError
  | MalformedJsonError
  | ExpectationFailedError
  | HeadersTooLargeError
  | InternalError;

/** An error that stops a message from being read: in its syntax, its size or its pace. */
export type UnreadableMessage =
  BadRequestError | RequestTimeoutError | PayloadTooLargeError | HeadersTooLargeError;

/** Every error that a response can carry: a union closed on `code`. */
export type ResponseError = PetStoreError | HttpError;

/** Creates a `BadRequestError`; the message names the error in the request. */
export const badRequest = (message: string): BadRequestError => ({ code: "bad_request", message });

/** Creates a `NotFoundError`: for a path that is no route, or is outside the base path. */
export const notFound = (): NotFoundError => ({
  code: "not_found",
  message: "Nothing is at this path.",
});

/** Creates a `MethodNotAllowedError` of a path that supports these methods, such as `GET, HEAD`. */
export const methodNotAllowed = (allow: string): MethodNotAllowedError => ({
  code: "method_not_allowed",
  message: `This path supports only ${allow}.`,
  allow,
});

export const requestTimeout = (): RequestTimeoutError => ({
  code: "request_timeout",
  message: "The request took too long to arrive.",
});

export const headersTooLarge = (): HeadersTooLargeError => ({
  code: "headers_too_large",
  message: "The header section is too long.",
});

/** Creates the error of a body whose chunk extensions are longer than Node's parser allows. */
export const chunkExtensionsTooLong = (): PayloadTooLargeError => ({
  code: "payload_too_large",
  message: "The chunk extensions are too long.",
});

/** Creates the error of a body of more than `limit` bytes. */
export const payloadTooLarge = (limit: number): PayloadTooLargeError => ({
  code: "payload_too_large",
  message: `The body must not be longer than ${limit} bytes.`,
});

/** Creates the error of a body that is not declared as JSON in UTF-8. */
export const unsupportedMediaType = (): UnsupportedMediaTypeError => ({
  code: "unsupported_media_type",
  message: "The body must be application/json in UTF-8.",
  accept: { Accept: "application/json" },
});

/** Creates the error of a body that is compressed. */
export const unsupportedContentCoding = (): UnsupportedMediaTypeError => ({
  code: "unsupported_media_type",
  message: "The body must not be compressed.",
  accept: { "Accept-Encoding": "identity" },
});

/** Creates a `MalformedJsonError`; the message says what is wrong with the text. */
export const malformedJson = (message: string): MalformedJsonError => ({
  code: "malformed_json",
  message,
});

export const expectationFailed = (): ExpectationFailedError => ({
  code: "expectation_failed",
  message: "The only supported expectation is 100-continue.",
});

/** Creates an `InternalError`. Clients learn nothing about its cause. */
export const internalError = (): InternalError => ({
  code: "internal_error",
  message: "Something went wrong on our side.",
});

/** The HTTP status of each error of the adapter itself (specification, "Errors"). */
const ownStatuses: Readonly<Record<HttpError["code"], number>> = {
  bad_request: 400,
  malformed_json: 400,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  headers_too_large: 431,
  internal_error: 500,
};

const allStatuses = { ...statuses, ...ownStatuses };

/** Returns the HTTP status of an error code. */
export function statusOf(code: ResponseError["code"]): number {
  return allStatuses[code];
}
