import type { PetStoreError } from "@petstore/core";
import { statuses } from "@petstore/wire";

/** The HTTP status of each error of the adapter itself (specification, "Errors"; RFC 9110, 15.5; RFC 6585, 5). */
const ownStatuses = {
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
} as const;

export type HttpErrorCode = keyof typeof ownStatuses;

export interface HttpError<Code extends HttpErrorCode = HttpErrorCode> {
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

export const badRequest = (message: string) => errorOf("bad_request", message);

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

export const malformedJson = (message: string) => errorOf("malformed_json", message);

/** RFC 9110, section 10.1.1. */
export const expectationFailed = () =>
  errorOf("expectation_failed", "The only supported expectation is 100-continue.");

/** A bug in the store or in the host. Clients learn nothing about its cause. */
export const internalError = () => errorOf("internal_error", "Something went wrong on our side.");

function errorOf<Code extends HttpErrorCode>(
  code: Code,
  message: string,
  headers?: Readonly<Record<string, string>>,
): HttpError<Code> {
  return headers === undefined ? { code, message } : { code, message, headers };
}

const allStatuses = { ...statuses, ...ownStatuses };

export function statusOf(code: ResponseError["code"]): number {
  return allStatuses[code];
}
