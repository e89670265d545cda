import {
  badRequest,
  chunkExtensionsTooLong,
  headersTooLarge,
  requestTimeout,
  type UnreadableMessage,
} from "../refusal.js";

/**
 * The response to what Node's parser refuses, from the error of `clientError`; `undefined` when
 * there is no client to respond to, or none that speaks HTTP (a reset, a failed TLS handshake).
 *
 * A version other than 1.0 and 1.1 is 400 rather than 505 (RFC 9110, section 15.6.6, lets a server
 * choose): a client's mistake is no failure of the server.
 */
export function refusalOf(error: Error): UnreadableMessage | undefined {
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
      return badRequest("Only HTTP/1.1 and HTTP/1.0 are supported.");
    default:
      return isParserCode(error.code) ? badRequest(describe(error)) : undefined;
  }
}

/** The codes of llhttp, which Node parses with. */
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
