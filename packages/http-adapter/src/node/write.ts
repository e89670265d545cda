import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "../http-message.js";
import { drain } from "./drain.js";

/**
 * When an answer closes the connection: always; if any of the body is left unread (the client was
 * never told to send it, or reading was given up); if what is left unread is long, or of unknown
 * length.
 */
export type Closing = "always" | "if-unread" | "if-long";

/** A body that was declared this long at most is read to its end, so that the connection can stay. */
const MAX_DRAINED_BYTES = 65_536;

/**
 * Writes an answer and, where need be, closes the connection after it, so that nothing of a body is
 * ever taken for a next request; but first a little more of an unread one is read away, since
 * closing a socket that holds unread bytes resets it and may cost the client the answer (RFC 9112,
 * section 9.6).
 */
export function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  closing: Closing,
): void {
  if (response.headersSent || response.destroyed) return;
  // Express says who it is on answers that are not its own, too.
  response.removeHeader("X-Powered-By");
  // The length is told, so nothing else may say where the answer ends.
  response.removeHeader("Transfer-Encoding");
  const isUnread = !request.complete && (closing !== "if-long" || isLong(request));
  if (isUnread || closing === "always") announceEnd(headers);

  writeHead(response, status, headers);
  if (!isUnread) {
    end(response, body);
    return;
  }
  if (body === "") response.flushHeaders();
  else response.write(body);
  drain(request, () => void response.end());
}

/** Where a middleware has wrapped `writeHead`, header by header: it may not know a flat list of them. */
function writeHead(response: ServerResponse, status: number, headers: string[]): void {
  if (!Object.hasOwn(response, "writeHead")) {
    response.writeHead(status, headers);
    return;
  }
  const fields = pairsOf(headers);
  for (const [name] of fields) response.removeHeader(name);
  for (const [name, value] of fields) response.appendHeader(name, value);
  response.writeHead(status);
}

function pairsOf(headers: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ""]] : []));
}

/**
 * Ends a response with its whole body. `end` alone would give the socket two chunks, for a
 * `writev`; a single one takes a simpler way through Node.
 */
function end(response: ServerResponse, body: string): void {
  const { socket } = response;
  if (socket === null || body === "") {
    response.end(body);
    return;
  }
  socket.cork();
  response.write(body);
  socket.uncork();
  response.end();
}

/** Says that the connection closes, whatever a host wants it to be. */
function announceEnd(headers: string[]): void {
  const name = headers.findIndex(
    (text, index) => index % 2 === 0 && text.toLowerCase() === "connection",
  );
  if (name === -1) headers.push("Connection", "close");
  else headers[name + 1] = "close";
}

/** Whether more may follow the header than is worth reading (RFC 9112, section 6.3). */
function isLong({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > MAX_DRAINED_BYTES;
}
