import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "../http-message.js";
import { drain } from "./drain.js";

/** A body that was declared this long at most is read to its end, so that the connection can stay. */
const MAX_DRAINED_BYTES = 65_536;

/**
 * Writes an answer. Where a body is left unread that is long, of unknown length, or that the client
 * was never told to send, the connection is closed after the answer, so that nothing of the body is
 * ever taken for a next request; but first a little more is read away, since closing a socket that
 * holds unread bytes resets it and may cost the client the answer (RFC 9112, section 9.6).
 * @returns what becomes of the connection.
 */
export function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  isWaiting: boolean,
): "kept" | "closing" {
  if (response.headersSent || response.destroyed) return "kept";
  // Express says who it is on answers that are not its own, too.
  response.removeHeader("X-Powered-By");
  if (request.complete || !(isWaiting || isLong(request))) {
    response.writeHead(status, headers);
    response.end(body);
    return "kept";
  }
  headers.push("Connection", "close");
  response.writeHead(status, headers);
  if (body === "") response.flushHeaders();
  else response.write(body);
  drain(request, () => void response.end());
  return "closing";
}

/** Whether more may follow the header than is worth reading (RFC 9112, section 6.3). */
function isLong({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > MAX_DRAINED_BYTES;
}
