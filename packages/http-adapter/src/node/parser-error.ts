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

/** A method, a space, and a target that does not end. */
const IN_TARGET = /(?:^|\r\n\r\n)[\r\n]*[A-Z-]+ [^\r\n]*$/;

/**
 * Whether the parser was still in the request line. It counts target and header section together
 * and does not say; the packet tells when the message begins in it.
 */
function isInTarget(error: Error): boolean {
  if (!("rawPacket" in error) || !(error.rawPacket instanceof Uint8Array)) return false;
  const parsed = "bytesParsed" in error ? Number(error.bytesParsed) : 0;
  return IN_TARGET.test(Buffer.from(error.rawPacket).toString("latin1", 0, parsed));
}
