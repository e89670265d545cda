/** The message itself is no good HTTP, or no longer complete. */
export interface BadRequest {
  readonly code: "bad_request";
  readonly message: string;
}

/** Nothing is at this path. */
export interface NotFound {
  readonly code: "not_found";
  readonly message: string;
}

/** Something is at this path, but not for this method. */
export interface MethodNotAllowed {
  readonly code: "method_not_allowed";
  readonly message: string;
  /** The methods that it is there for, as `Allow` lists them (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** The body is longer than allowed. */
export interface PayloadTooLarge {
  readonly code: "payload_too_large";
  readonly message: string;
}

/** The body is not JSON in UTF-8, or is compressed. */
export interface UnsupportedMediaType {
  readonly code: "unsupported_media_type";
  readonly message: string;
  /** The header that tells what would do (RFC 9110, section 15.5.16): its name and its value. */
  readonly wanted: readonly [name: string, value: string];
}

/** The body says that it is JSON, and is not. */
export interface MalformedJson {
  readonly code: "malformed_json";
  readonly message: string;
}

/** The request expects something other than `100-continue` (RFC 9110, section 10.1.1). */
export interface ExpectationFailed {
  readonly code: "expectation_failed";
  readonly message: string;
}

/** A bug, of ours or of the host's. */
export interface InternalError {
  readonly code: "internal_error";
  readonly message: string;
}

/** Every way in which the adapter itself refuses a request: closed on `code`. */
export type Refusal =
  | BadRequest
  | NotFound
  | MethodNotAllowed
  | PayloadTooLarge
  | UnsupportedMediaType
  | MalformedJson
  | ExpectationFailed
  | InternalError;

export const badRequest = (message: string): BadRequest => ({ code: "bad_request", message });

export const notFound = (): NotFound => ({
  code: "not_found",
  message: "Nothing is at this path.",
});

export const methodNotAllowed = (allow: string): MethodNotAllowed => ({
  code: "method_not_allowed",
  message: `This path answers ${allow} only.`,
  allow,
});

export const payloadTooLarge = (limit: number): PayloadTooLarge => ({
  code: "payload_too_large",
  message: `The body must not be longer than ${limit} bytes.`,
});

export const unsupportedMediaType = (): UnsupportedMediaType => ({
  code: "unsupported_media_type",
  message: "The body must be application/json in UTF-8.",
  wanted: ["Accept", "application/json"],
});

export const unsupportedContentCoding = (): UnsupportedMediaType => ({
  code: "unsupported_media_type",
  message: "The body must not be compressed.",
  wanted: ["Accept-Encoding", "identity"],
});

export const malformedJson = (message: string): MalformedJson => ({
  code: "malformed_json",
  message,
});

export const expectationFailed = (): ExpectationFailed => ({
  code: "expectation_failed",
  message: "The only expectation that can be met is 100-continue.",
});

export const internalError = (): InternalError => ({
  code: "internal_error",
  message: "Something went wrong on our side.",
});
