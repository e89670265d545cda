import type { IncomingMessage, ServerResponse } from "node:http";
import type { Headers, HttpResponse } from "../http-message.js";
import { linger } from "./linger.js";

/**
 * When a response closes the connection: always; if any of the body is unread (the client was never
 * asked to send it, or reading was given up); if the unread rest is long, or of unknown length.
 */
export type Closing = "always" | "if-unread" | "if-long";

/** A body that was declared this long at most is read to its end, so that the connection can stay. */
const MAX_DRAINED_BYTES = 65_536;

/**
 * Writes a response, unless the client has gone.
 * @returns whether the connection closes after it.
 */
export function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  closing: Closing,
): boolean {
  const { socket } = request;
  // A response on a destroyed socket would finish at once, before those in front of it.
  if (response.headersSent || response.destroyed || socket.destroyed) return false;
  // Express adds it also to responses that are not its own.
  response.removeHeader("X-Powered-By");
  // The length is given, so no other header may say where the response ends.
  response.removeHeader("Transfer-Encoding");
  const isUnread = !request.complete && (closing !== "if-long" || isLong(request));
  const isLast = isUnread || closing === "always";
  if (isLast) {
    // Node calls this after the last response.
    socket.destroySoon = () => linger(socket);
    writeHead(response, status, { ...headers, Connection: "close" });
  } else {
    writeHead(response, status, headers);
  }
  end(response, body);
  return isLast;
}

/** A middleware that has wrapped `writeHead` may expect to find every header on the response. */
function writeHead(response: ServerResponse, status: number, headers: Headers): void {
  if (!Object.hasOwn(response, "writeHead")) {
    response.writeHead(status, headers);
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.writeHead(status);
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

/** Whether more may follow the header than is worth reading (RFC 9112, section 6.3). */
function isLong({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > MAX_DRAINED_BYTES;
}
