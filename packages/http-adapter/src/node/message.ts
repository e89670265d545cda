import type { IncomingMessage } from "node:http";
import { flawOfCoding, flawOfHost } from "../flaw.js";
import { badRequest, expectationFailed, headersTooLarge, type Refusal } from "../refusal.js";

/**
 * What the client expects before it sends the body (RFC 9110, section 10.1.1): nothing, or nothing
 * any more; `100 Continue`, not sent yet; something unknown.
 */
export type Expectation = "none" | "continue" | "unknown";

/** Node silently drops all header lines after this many, framing and credentials too. */
const MAX_LINES = 1_000;

/** Checks what Node's parser lets through. Returns why the message is refused, if it is. */
export function flawOf(request: IncomingMessage, expectation: Expectation): Refusal | undefined {
  const { rawHeaders, headers, httpVersion } = request;
  if (rawHeaders.length >= 2 * MAX_LINES) return TOO_MANY_LINES;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return UNKNOWN_VERSION;
  return (
    flawOfHost(headerLines(request, "host"), httpVersion === "1.0") ??
    flawOfCoding(headers["transfer-encoding"], httpVersion === "1.1") ??
    (isMet(expectation, headers.expect) ? undefined : UNKNOWN_EXPECTATION)
  );
}

/**
 * The values of all lines of a header with this lower-case name, in the order received.
 * `IncomingMessage.headers` would silently keep the first of two Authorization or Host lines.
 */
export function headerLines({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index];
    if (candidate?.length !== name.length || candidate.toLowerCase() !== name) continue;
    lines.push(rawHeaders[index + 1] ?? "");
  }
  return lines;
}

const TOO_MANY_LINES = Object.freeze(headersTooLarge());
const UNKNOWN_VERSION = Object.freeze(badRequest("Only HTTP/1.1 and HTTP/1.0 are supported."));
const UNKNOWN_EXPECTATION = Object.freeze(expectationFailed());

/** Node takes a list of expectations that has 100-continue in it for that alone. */
function isMet(expectation: Expectation, expect: string | undefined): boolean {
  if (expectation === "continue") return expect?.trim().toLowerCase() === "100-continue";
  return expectation === "none";
}
