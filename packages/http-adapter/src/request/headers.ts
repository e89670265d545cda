import type { Caller, PetStore } from "@petstore/core";
import { parseIdempotencyKey, type engineErrors } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import * as errors from "../error.js";
import type { HttpRequest } from "../http-message.js";
import type { HttpSettings } from "../options.js";

/** RFC 9112, section 3.2: a host and optionally a port, or an empty value. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Returns the error in the lines of Host, if there is one. HTTP/1.0 makes Host optional. */
export function flawOfHost(
  lines: readonly string[],
  isOptional: boolean,
): errors.HttpError | undefined {
  const [host] = lines;
  if (host === undefined)
    return isOptional ? undefined : errors.badRequest("The Host header is missing.");
  if (lines.length > 1) return errors.badRequest("There is more than one Host header.");
  return HOST.test(host) ? undefined : errors.badRequest("The Host header is not a host.");
}

/**
 * Returns the error in Transfer-Encoding, if there is one. An unknown coding is the client's mistake: 400, not 501.
 * HTTP/1.0 has no codings, so one there is a sign of smuggling (RFC 9112, section 6.1).
 */
export function flawOfCoding(
  coding: string | undefined,
  isAllowed: boolean,
): errors.HttpError | undefined {
  if (coding === undefined || (coding.toLowerCase() === "chunked" && isAllowed)) return undefined;
  return errors.badRequest("The only supported transfer coding is chunked.");
}

/**
 * Creates the function that finds the caller of a request. It remembers the last caller of each connection, because a
 * caller hashes its key only once. The engine still checks with every request whether the key is valid. It reports the
 * first request that came through a proxy, if the host has not said which proxies may name the client.
 */
export function createCallers(store: PetStore, { hasClientAddress, onError }: HttpSettings) {
  let isReported = hasClientAddress;
  const remembered = new WeakMap<object, Remembered>();
  return (request: HttpRequest, clientAddress: string | undefined): Caller => {
    const { connection } = request;
    const lines = request.lines("authorization");
    const authorization = lines.join("\n");
    const last = connection && remembered.get(connection);
    if (last?.authorization === authorization && last.clientAddress === clientAddress)
      return last.caller;
    if (!isReported && FORWARDED.some((name) => request.lines(name).length > 0)) {
      isReported = true;
      // A stack would say nothing.
      onError(Object.assign(new Error(UNTRUSTED_PROXY), { stack: UNTRUSTED_PROXY }));
    }
    const caller = store.as(apiKeyOf(lines), clientAddress);
    if (connection) remembered.set(connection, { authorization, clientAddress, caller });
    return caller;
  };
}

type Remembered = { authorization: string; clientAddress: string | undefined; caller: Caller };

const FORWARDED = ["x-forwarded-for", "forwarded"];
const UNTRUSTED_PROXY =
  'A request came through a proxy, but no option says which proxy to trust, so clients without a valid key share one bucket: set clientAddress, such as clientAddressBehind(["127.0.0.1"]), or petstore serve --trust-proxy.';

const BEARER = /^bearer +(\S.*)$/i;

/**
 * Returns the API key in a request's Authorization lines, or `undefined` if they have no bearer token: no line, another
 * scheme (RFC 6750, section 3.1), or nothing after it. Several lines are joined to a text that is not a valid key.
 */
function apiKeyOf(lines: readonly string[]): string | undefined {
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

/** Checks the headers of a body before any of it is read. A body without a media type is treated as JSON. */
export function checkContent(request: HttpRequest, limit: number): Result<void, errors.HttpError> {
  if (Number(request.lines("content-length")[0] ?? 0) > limit)
    return err(errors.payloadTooLarge(limit));
  const types = request.lines("content-type");
  if (types.length > 0 && !JSON_TYPE.test(types.join(", ")))
    return err(errors.unsupportedMediaType());
  // An empty value is an empty list of codings.
  const isPlain = request.lines("content-encoding").every((line) => /^(?:identity)?$/i.test(line));
  return isPlain ? ok() : err(errors.unsupportedContentCoding());
}

/** JSON (RFC 9110, section 8.3.1) with any parameters, but no charset other than UTF-8 (RFC 8259, section 8.1). */
const JSON_TYPE =
  /^application\/json[ \t]*(?:;(?![ \t]*charset=(?!(?:utf-8|"utf-8")?[ \t]*(?:;|$)))[^;]*)*$/i;
