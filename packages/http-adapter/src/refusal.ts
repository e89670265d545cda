/** A reason for a refusal: closed on `code`. */
interface Reason<Code extends string> {
  readonly code: Code;
  readonly message: string;
}

/** The message itself is not valid HTTP, or its body ended early. */
export type BadRequest = Reason<"bad_request">;
/** Nothing is at this path. */
export type NotFound = Reason<"not_found">;
/** The request took too long to arrive (RFC 9110, section 15.5.9). */
export type RequestTimeout = Reason<"request_timeout">;
/** The body is longer than allowed. */
export type PayloadTooLarge = Reason<"payload_too_large">;
/** The body is declared as JSON, and is not. */
export type MalformedJson = Reason<"malformed_json">;
/** The request expects something other than `100-continue` (RFC 9110, section 10.1.1). */
export type ExpectationFailed = Reason<"expectation_failed">;
/** The request line and the header section, or the trailer section, are too long (RFC 6585, section 5). */
export type HeadersTooLarge = Reason<"headers_too_large">;
/** A bug, of ours or of the host's. */
export type InternalError = Reason<"internal_error">;

/** The path exists, but not for this method. */
export interface MethodNotAllowed extends Reason<"method_not_allowed"> {
  /** The methods of the path, as `Allow` lists them (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** The body is not JSON in UTF-8, or is compressed. */
export interface UnsupportedMediaType extends Reason<"unsupported_media_type"> {
  /** The response header that says what is accepted (RFC 9110, section 15.5.16). */
  readonly accept: { readonly Accept: string } | { readonly "Accept-Encoding": string };
}

/** Every reason for which the adapter itself refuses a request: closed on `code`. */
export type Refusal =
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

/** Why a message cannot be read to its end: its syntax, its size or its pace. */
export type UnreadableMessage = BadRequest | RequestTimeout | PayloadTooLarge | HeadersTooLarge;

export const badRequest = (message: string): BadRequest => ({ code: "bad_request", message });

export const notFound = (): NotFound => ({
  code: "not_found",
  message: "Nothing is at this path.",
});

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

export const chunkExtensionsTooLong = (): PayloadTooLarge => ({
  code: "payload_too_large",
  message: "The chunk extensions are too long.",
});

export const payloadTooLarge = (limit: number): PayloadTooLarge => ({
  code: "payload_too_large",
  message: `The body must not be longer than ${limit} bytes.`,
});

export const unsupportedMediaType = (): UnsupportedMediaType => ({
  code: "unsupported_media_type",
  message: "The body must be application/json in UTF-8.",
  accept: { Accept: "application/json" },
});

export const unsupportedContentCoding = (): UnsupportedMediaType => ({
  code: "unsupported_media_type",
  message: "The body must not be compressed.",
  accept: { "Accept-Encoding": "identity" },
});

export const malformedJson = (message: string): MalformedJson => ({
  code: "malformed_json",
  message,
});

export const expectationFailed = (): ExpectationFailed => ({
  code: "expectation_failed",
  message: "The only supported expectation is 100-continue.",
});

export const internalError = (): InternalError => ({
  code: "internal_error",
  message: "Something went wrong on our side.",
});
