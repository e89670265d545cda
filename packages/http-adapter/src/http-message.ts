import type { Result } from "neverthrow";
import { badRequest, type BadRequest, type HttpError, type UnreadableMessage } from "./error.js";

/** A request as every transport passes it to the handler. */
export interface HttpRequest {
  /** The method as sent; methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string;
  /** The error in the message itself, if the transport found one. */
  readonly flaw: HttpError | undefined;
  /** An object that all requests of one connection share, if the transport knows the connection. */
  readonly connection: object | undefined;
  /** Tells callers without a valid key apart, normally by the network address. */
  readonly origin: () => string | undefined;
  /** The value of every line of the header with this lower-case name, in the order sent. */
  readonly lines: (name: string) => readonly string[];
  /**
   * Reads the body, of at most `limit` bytes. A client that waits for `100 Continue` gets it only
   * now. To be called at most once.
   */
  readonly readBody: (limit: number) => Promise<BodyResult>;
}

/** A body: its bytes or, if the host's body parser has read it, the parsed value. */
export type HttpBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown };

/** The outcome of reading a body. */
export type BodyResult = Result<HttpBody, UnreadableMessage>;

/** Header names and their values. */
export type Headers = Readonly<Record<string, string>>;

/** A response. The transport adds its own headers (Date, Connection, X-Request-Id). */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text to be sent as UTF-8; empty in a response to HEAD. */
  readonly body: string;
}

/** RFC 9112, section 3.2: a host and optionally a port, or an empty value. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Returns the error in the lines of Host, if there is one. HTTP/1.0 makes Host optional. */
export function flawOfHost(lines: readonly string[], isOptional: boolean): BadRequest | undefined {
  const [host] = lines;
  if (host === undefined) return isOptional ? undefined : NO_HOST;
  if (lines.length > 1) return TWO_HOSTS;
  return HOST.test(host) ? undefined : BAD_HOST;
}

/**
 * Returns the error in Transfer-Encoding, if there is one. An unknown coding is 400 rather than 501,
 * because the client made the mistake. HTTP/1.0 has no codings, so one there is a sign of smuggling
 * (RFC 9112, section 6.1).
 */
export function flawOfCoding(
  coding: string | undefined,
  isAllowed: boolean,
): BadRequest | undefined {
  if (coding === undefined) return undefined;
  return coding.toLowerCase() === "chunked" && isAllowed ? undefined : UNKNOWN_CODING;
}

const NO_HOST = Object.freeze(badRequest("The Host header is missing."));
const TWO_HOSTS = Object.freeze(badRequest("There is more than one Host header."));
const BAD_HOST = Object.freeze(badRequest("The Host header is not a host."));
const UNKNOWN_CODING = Object.freeze(badRequest("The only supported transfer coding is chunked."));
