import type { IncomingMessage } from "node:http";
import {
  badRequest,
  chunkExtensionsTooLong,
  expectationFailed,
  headersTooLarge,
  requestTimeout,
  type HttpError,
  type UnreadableMessage,
} from "../error.js";
import { flawOfCoding, flawOfHost } from "../http-message.js";

/**
 * What the client expects before it sends the body (RFC 9110, section 10.1.1): nothing, or Node has
 * already sent `100 Continue`; a `100 Continue` that is not sent yet; something unknown.
 */
export type Expectation = "none" | "continue" | "unknown";

/** Node silently drops all header lines after this many, framing and credentials too. */
const MAX_LINES = 1_000;

/** Checks a message that Node's parser accepts. Returns the error in the message, if there is one. */
export function flawOf(request: IncomingMessage, expectation: Expectation): HttpError | undefined {
  const { rawHeaders, headers, httpVersion } = request;
  if (rawHeaders.length >= 2 * MAX_LINES) return TOO_MANY_LINES;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return UNKNOWN_VERSION;
  return (
    flawOfHost(headerLines(request, "host"), httpVersion === "1.0") ??
    flawOfCoding(headers["transfer-encoding"], httpVersion === "1.1") ??
    (isSupported(expectation, headers.expect) ? undefined : UNKNOWN_EXPECTATION)
  );
}

/**
 * Whether a request asks for another protocol. Node's parser loses the bytes that follow it in the same
 * packet, so the connection cannot be used after its response.
 */
export function isUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/**
 * Returns the values of all lines of a header with this lower-case name, in the order received.
 * `IncomingMessage.headers` would silently keep the first of two Authorization or Host lines.
 */
export function headerLines({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) lines.push(rawHeaders[index + 1] ?? "");
  }
  return lines;
}

const TOO_MANY_LINES = Object.freeze(headersTooLarge());
const UNKNOWN_VERSION = Object.freeze(badRequest("Only HTTP/1.1 and HTTP/1.0 are supported."));
const UNKNOWN_EXPECTATION = Object.freeze(expectationFailed());

/** Node emits `checkContinue` also for a list of expectations that contains 100-continue. */
function isSupported(expectation: Expectation, expect: string | undefined): boolean {
  if (expectation === "continue") return expect?.trim().toLowerCase() === "100-continue";
  return expectation === "none";
}

/**
 * Returns the error to send when Node's parser refuses a message with this error of `clientError`;
 * `undefined` if no HTTP client is left to receive it (a reset, a failed TLS handshake).
 *
 * A version other than 1.0 and 1.1 is 400 rather than 505, because the client made the mistake (RFC
 * 9110, section 15.6.6, lets a server choose).
 */
export function errorOfParser(error: Error): UnreadableMessage | undefined {
  if (!("code" in error)) return undefined;
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return requestTimeout();
    case "HPE_HEADER_OVERFLOW":
      return headersTooLarge();
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return chunkExtensionsTooLong();
    case "HPE_INVALID_EOF_STATE":
      return badRequest("The request ended early.");
    case "HPE_INVALID_VERSION":
    case "HPE_PAUSED_H2_UPGRADE":
      return UNKNOWN_VERSION;
    default:
      return isParserCode(error.code) ? badRequest(describe(error)) : undefined;
  }
}

/** Whether a code is one of llhttp, Node's parser. */
function isParserCode(code: unknown): boolean {
  return typeof code === "string" && code.startsWith("HPE_");
}

/** llhttp's reasons are fixed texts: they never repeat what the client sent. */
function describe(error: Error): string {
  const reason = "reason" in error && typeof error.reason === "string" ? error.reason : "";
  return reason === ""
    ? "The request is not valid HTTP."
    : `The request is not valid HTTP: ${reason}.`;
}
