import type { IncomingMessage } from "node:http";
import { isHost } from "../host.js";
import { badRequest, headersTooLarge, type BadRequest, type HeadersTooLarge } from "../refusal.js";
import { headerLines } from "./header-lines.js";

/** Node drops in silence what comes after this many header lines, framing and credentials too. */
const MAX_LINES = 1_000;

/** What is wrong with the message itself that Node's parser let through. */
export function flawOf(request: IncomingMessage): BadRequest | HeadersTooLarge | undefined {
  const { rawHeaders, httpVersion } = request;
  if (hasTooManyLines(request)) return TOO_MANY_LINES;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return UNKNOWN_VERSION;
  return flawOfHost(headerLines(rawHeaders, "host"), httpVersion) ?? flawOfCoding(request);
}

/** What is wrong with a message that has no Host: Node may have dropped it. */
export function flawWithoutHost(request: IncomingMessage): BadRequest | HeadersTooLarge {
  return hasTooManyLines(request) ? TOO_MANY_LINES : NO_HOST;
}

function hasTooManyLines({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length >= 2 * MAX_LINES;
}

const TOO_MANY_LINES = Object.freeze(headersTooLarge());
const UNKNOWN_VERSION = Object.freeze(badRequest("Only HTTP/1.1 and HTTP/1.0 are spoken here."));
const NO_HOST = Object.freeze(badRequest("The Host header is missing."));
const TWO_HOSTS = Object.freeze(badRequest("There is more than one Host header."));
const BAD_HOST = Object.freeze(badRequest("The Host header is no host."));
const UNKNOWN_CODING = Object.freeze(badRequest("The only transfer coding known is chunked."));

function flawOfHost(hosts: readonly string[], httpVersion: string): BadRequest | undefined {
  const [host] = hosts;
  if (host === undefined) return httpVersion === "1.0" ? undefined : NO_HOST;
  if (hosts.length > 1) return TWO_HOSTS;
  return isHost(host) ? undefined : BAD_HOST;
}

/**
 * RFC 9112, section 6.1: HTTP/1.0 has no transfer codings, so one there is a sign of smuggling. An
 * unknown one is 400, not 501: what a client got wrong is no failure of the server.
 */
function flawOfCoding({ headers, httpVersion }: IncomingMessage): BadRequest | undefined {
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  return coding.toLowerCase() === "chunked" && httpVersion === "1.1" ? undefined : UNKNOWN_CODING;
}
