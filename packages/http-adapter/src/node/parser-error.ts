import { METHODS } from "node:http";
import {
  badRequest,
  chunkExtensionsTooLong,
  headersTooLarge,
  requestTimeout,
  uriTooLong,
  type UnreadableMessage,
} from "../refusal.js";

/**
 * What to answer where Node's parser gives up on a connection, from the error of `clientError`;
 * `undefined` when there is nobody left to answer, or nobody who speaks HTTP (a reset, a failed TLS
 * handshake).
 *
 * A version other than 1.0 and 1.1 is 400 rather than 505 (RFC 9110, section 15.6.6 lets a server
 * choose): what a client got wrong is no failure of the server, and no alarm there.
 */
export function refusalOf(error: unknown): UnreadableMessage | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return requestTimeout();
    case "HPE_HEADER_OVERFLOW":
      return isInTarget(error) ? uriTooLong() : headersTooLarge();
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return chunkExtensionsTooLong();
    case "HPE_INVALID_EOF_STATE":
      return badRequest("The request ended early.");
    case "HPE_INVALID_VERSION":
    case "HPE_PAUSED_H2_UPGRADE":
      return badRequest("Only HTTP/1.1 and HTTP/1.0 are spoken here.");
    default:
      return isParserCode(error.code) ? badRequest(describe(error)) : undefined;
  }
}

/** llhttp, which Node parses with, marks its errors so. */
function isParserCode(code: unknown): boolean {
  return typeof code === "string" && code.startsWith("HPE_");
}

/** llhttp's reasons are fixed texts: none repeats what the client sent. */
function describe(error: Error): string {
  const reason = "reason" in error && typeof error.reason === "string" ? error.reason : "";
  return reason === ""
    ? "The request is not valid HTTP."
    : `The request is not valid HTTP: ${reason}.`;
}

/**
 * Whether the parser was still in the request line. It counts target and header section together
 * and does not say; the packet tells when the message begins in it, else it is taken for a header.
 */
function isInTarget(error: Error): boolean {
  if (!("rawPacket" in error) || !(error.rawPacket instanceof Uint8Array)) return false;
  const parsed = "bytesParsed" in error ? Number(error.bytesParsed) : 0;
  const packet = Buffer.from(error.rawPacket.buffer, error.rawPacket.byteOffset, parsed);
  const line = Math.max(packet.lastIndexOf(CARRIAGE_RETURN), packet.lastIndexOf(LINE_FEED)) + 1;
  return beginsWithMethod(packet.subarray(line)) && endsMessage(packet.subarray(0, line));
}

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const EMPTY_LINE = Buffer.from("\r\n\r\n");
/** Longer than any method that Node knows, and the space after it. */
const LONGEST_METHOD = 20;

function beginsWithMethod(line: Buffer): boolean {
  const [method = ""] = line.toString("latin1", 0, LONGEST_METHOD).split(" ", 1);
  return METHODS.includes(method) && line.length > method.length;
}

/** Whether a message may begin after these bytes: after nothing, or after an empty line. */
function endsMessage(bytes: Buffer): boolean {
  let start = bytes.length;
  while (bytes[start - 1] === CARRIAGE_RETURN || bytes[start - 1] === LINE_FEED) start -= 1;
  return start === 0 || bytes.includes(EMPTY_LINE, start);
}
