import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Headers, HttpResponse } from "../http-message.js";
import { linger } from "./connection.js";

/**
 * When a response closes the connection: always; if a part of the body is unread (the client was not
 * asked to send it, or reading was stopped); or only if the unread part is long or of unknown length.
 */
export type Closing = "always" | "if-unread" | "if-long";

/** The rest of a body with at most this Content-Length is read, to keep the connection open. */
const MAX_DRAINED_BYTES = 65_536;

/**
 * Writes a response, unless the client has disconnected.
 * @returns whether the connection closes after it.
 */
export function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  closing: Closing,
): boolean {
  const { socket } = request;
  // On a destroyed socket, a response would finish before the earlier ones.
  if (response.headersSent || response.destroyed || socket.destroyed) return false;
  // Express adds this header to every response.
  response.removeHeader("X-Powered-By");
  // The response has a Content-Length, so it must not have a Transfer-Encoding of the host.
  response.removeHeader("Transfer-Encoding");
  const vary = response.getHeader("Vary");
  if (vary !== undefined && headers["Vary"] !== undefined) {
    headers["Vary"] = `${String(vary)}, ${headers["Vary"]}`;
  }
  const isUnread = !request.complete && (closing !== "if-long" || isLong(request));
  const isLast = isUnread || closing === "always";
  if (isLast) {
    // Node calls this after the last response.
    socket.destroySoon = () => linger(socket);
    headers["Connection"] = "close";
  }
  writeHead(response, status, headers);
  end(response, body);
  return isLast;
}

/** If a middleware has replaced `writeHead`, it may expect to find every header on the response. */
function writeHead(response: ServerResponse, status: number, headers: Headers): void {
  if (!Object.hasOwn(response, "writeHead")) {
    response.writeHead(status, headers);
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.writeHead(status);
}

/**
 * Ends a response with its whole body. `end` alone would pass two chunks to the socket; one chunk
 * takes a shorter path through Node.
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

/** Whether the body may be longer than is worth reading (RFC 9112, section 6.3). */
function isLong({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > MAX_DRAINED_BYTES;
}

/** Writes a response without a request to a socket, as the last one of its connection. */
export function writeLastResponse(
  socket: Socket,
  { status, headers, body }: HttpResponse,
  now: number,
): void {
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const date = `Date: ${new Date(now).toUTCString()}`;
  socket.write([statusLine, ...lines, date, "Connection: close", "", body].join("\r\n"));
}
