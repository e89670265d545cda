import { isHost } from "../host.js";
import { badRequest, type BadRequest } from "../refusal.js";

/**
 * What is wrong with the message that a host has made a WHATWG request of, as far as that shows: two
 * lines of a header have become one value, and a request that was never sent has no Host.
 */
export function flawOf({ headers }: Request): BadRequest | undefined {
  if (!isHost(headers.get("Host") ?? "")) return BAD_HOST;
  const coding = headers.get("Transfer-Encoding") ?? "chunked";
  return coding.toLowerCase() === "chunked" ? undefined : UNKNOWN_CODING;
}

const BAD_HOST = Object.freeze(badRequest("The Host header is no host."));
const UNKNOWN_CODING = Object.freeze(badRequest("The only transfer coding known is chunked."));
