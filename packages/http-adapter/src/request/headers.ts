import { MIMEType } from "node:util";
import { parseIdempotencyKey, type engineErrors } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import {
  badRequest,
  payloadTooLarge,
  unsupportedContentCoding,
  unsupportedMediaType,
  type HttpError,
} from "../error.js";
import type { HttpRequest } from "../http-message.js";

/** RFC 9112, section 3.2: a host and optionally a port, or an empty value. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Returns the error in the lines of Host, if there is one. HTTP/1.0 makes Host optional. */
export function flawOfHost(lines: readonly string[], isOptional: boolean): HttpError | undefined {
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
): HttpError | undefined {
  if (coding === undefined) return undefined;
  return coding.toLowerCase() === "chunked" && isAllowed ? undefined : UNKNOWN_CODING;
}

const NO_HOST = Object.freeze(badRequest("The Host header is missing."));
const TWO_HOSTS = Object.freeze(badRequest("There is more than one Host header."));
const BAD_HOST = Object.freeze(badRequest("The Host header is not a host."));
const UNKNOWN_CODING = Object.freeze(badRequest("The only supported transfer coding is chunked."));

const BEARER = /^bearer +(\S.*)$/i;

/**
 * Returns the API key in a request's Authorization lines, or `undefined` if they have no bearer token:
 * no line, another scheme (RFC 6750, section 3.1: no authentication information), or nothing after the
 * scheme. Several lines contradict each other; they are joined to a text that is not a valid key.
 */
export function apiKeyOf(lines: readonly string[]): string | undefined {
  const [line, ...others] = lines;
  if (line === undefined) return undefined;
  return others.length === 0 ? BEARER.exec(line)?.[1] : lines.join(", ");
}

/** Returns the key in a request's Idempotency-Key lines, quoted or bare; `undefined` if there is no line. */
export function idempotencyKeyOf(
  lines: readonly string[],
): Result<string | undefined, engineErrors.InvalidIdempotencyKeyError> {
  const [line, ...others] = lines;
  if (line === undefined) return ok(undefined);
  return parseIdempotencyKey(others.length === 0 ? unquoted(line) : "");
}

/** A quoted string (RFC 9651, section 3.3.3). */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
/** The characters that a key needs quotes for, because they have a meaning in structured fields. */
const NEEDS_QUOTES = /[",;\\]/;

/** Returns the text of a line; `""`, which is not a key, if it is malformed. */
function unquoted(line: string): string {
  const [, text] = QUOTED.exec(line) ?? [];
  if (text !== undefined) return text.replace(/\\(.)/g, "$1");
  return NEEDS_QUOTES.test(line) ? "" : line;
}

/**
 * Checks the headers that describe a body, before any of it is read: length, media type and content
 * coding. A body without a media type is treated as JSON.
 */
export function checkContent(request: HttpRequest, limit: number): Result<void, HttpError> {
  if (Number(request.lines("content-length")[0] ?? 0) > limit) return err(payloadTooLarge(limit));
  const types = request.lines("content-type");
  if (types.length > 0 && !isJson(types.join(", "))) return err(unsupportedMediaType());
  return request.lines("content-encoding").every(isIdentity)
    ? ok()
    : err(unsupportedContentCoding());
}

/** Longer than any useful media type. Node's parser takes quadratic time for some values. */
const LONGEST_TYPE = 256;

function isJson(contentType: string): boolean {
  if (contentType.length > LONGEST_TYPE) return false;
  try {
    const { essence, params } = new MIMEType(contentType);
    const charset = params.get("charset") ?? "utf-8";
    return essence === "application/json" && charset.toLowerCase() === "utf-8";
  } catch {
    return false;
  }
}

/** An empty value is an empty list of codings. */
function isIdentity(contentCoding: string): boolean {
  return contentCoding === "" || contentCoding.toLowerCase() === "identity";
}
