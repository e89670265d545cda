import { badRequest, type BadRequest } from "./refusal.js";

/** RFC 9112, section 3.2: a host and perhaps a port, or nothing. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Checks the lines of Host; `isOptional` in HTTP/1.0. */
export function flawOfHost(lines: readonly string[], isOptional: boolean): BadRequest | undefined {
  const [host] = lines;
  if (host === undefined) return isOptional ? undefined : NO_HOST;
  if (lines.length > 1) return TWO_HOSTS;
  return HOST.test(host) ? undefined : BAD_HOST;
}

/**
 * Checks Transfer-Encoding. An unknown coding is 400, not 501: a client's mistake is no failure of
 * the server. HTTP/1.0 has no codings, so one there is a sign of smuggling (RFC 9112, section 6.1).
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
