import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import type { HttpError } from "../error.js";
import { createHandler, type Glimpse } from "../handle.js";
import type { HttpResponse } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import type { PartialReport, Report } from "../response/report.js";
import { locate, type Target } from "../request/route.js";
import { closeWithoutReset, type Exchange } from "./connection.js";
import { flawOf, NodeRequest } from "./request.js";

export type Responder = ReturnType<typeof createResponder>;

/** Its methods neither throw nor reject. */
export function createResponder(store: PetStore, settings: HttpSettings) {
  const { maxBodySeconds, onError, startReport, clock, isDraining } = settings;
  const handler = createHandler(store, settings);
  const countUnsent = createUnsentCount();

  /**
   * Responds with this error, or with a flaw of the message, and then closes the connection. Without a target, the
   * response is 404. Resolves when the response is passed to Node.
   */
  async function respond(exchange: Exchange, error?: HttpError): Promise<void> {
    const { request, response, target } = exchange;
    const report = startReport(request.headers["x-request-id"], request.method);
    try {
      const message = new NodeRequest(exchange, error ?? flawOf(exchange), maxBodySeconds);
      const handled = await handler.handle(message, target, report.requestId);
      const isLast = isDraining() || message.isLast();
      writeResponse(request, response, handled.response, isLast, countUnsent);
      const finish = (): void => sendReport(report, response, handled);
      if (response.destroyed) finish();
      else if (report.send !== undefined) response.once("close", finish);
    } catch (cause) {
      onError(cause);
      response.destroy();
    }
  }

  return {
    respond,
    /** Responds to input that is not a request, or to a request whose input ended, and closes the connection. */
    refuseInput: (error: HttpError, socket: Socket, seen: Glimpse): void => {
      if (!socket.writable) return;
      try {
        const report = startReport(undefined, seen.method);
        const handled = handler.refuse(error, socket.remoteAddress, seen, report.requestId);
        writeToSocket(socket, handled.response, clock.now());
        report.send?.(handled, handled.response.status);
      } catch (cause) {
        onError(cause);
      }
      closeWithoutReset(socket);
    },
  };
}

/** Express keeps the client's target in `originalUrl` when a Router cuts its own prefix from `url`. */
export function locateRequest(
  basePath: string,
  { url = "", originalUrl }: Pick<IncomingMessage, "url"> & { readonly originalUrl?: unknown },
): Target | undefined {
  return locate(basePath, url, typeof originalUrl === "string" ? originalUrl : url);
}

/** Writes a response, unless the client has disconnected or the host has responded meanwhile. */
function writeResponse(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  isLast: boolean,
  countUnsent: ReturnType<typeof createUnsentCount>,
): void {
  // On a destroyed socket, a response would finish before the earlier ones.
  if (response.headersSent || response.destroyed || socket.destroyed) return;
  // Express adds this header to every response.
  response.removeHeader("X-Powered-By");
  const vary = response.getHeader("Vary");
  if (vary !== undefined && headers["Vary"] !== undefined) {
    headers["Vary"] = `${String(vary)}, ${headers["Vary"]}`;
  }
  if (isLast) {
    socket.destroySoon = () => closeWithoutReset(socket);
    headers["Connection"] = "close";
  }
  response.writeHead(status, headers);
  // `end(body)` would pass two chunks to the socket; one chunk takes a shorter path through Node.
  response.socket?.cork();
  // A server may reject even an empty write in a response without a body.
  if (body.length > 0) response.write(body);
  response.socket?.uncork();
  response.end();
  countUnsent(response, body.length);
}

function writeToSocket(socket: Socket, { status, headers, body }: HttpResponse, now: number): void {
  const all = { ...headers, Date: new Date(now).toUTCString(), Connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`);
  socket.write(body);
}

/** Sends the report of a response that is closed. It has no status if the client disconnected before. */
export function sendReport({ send }: Report, response: ServerResponse, part: PartialReport): void {
  send?.(part, response.headersSent ? response.statusCode : undefined);
}

/** The most bytes that wait for slow clients. Then those that have waited longest are disconnected. */
const MOST_UNSENT = 67_108_864;

/** Counts the bodies that the system has not taken from Node yet. Those that share bytes count each. */
function createUnsentCount() {
  const waiting = new Map<ServerResponse, number>();
  let total = 0;
  const remove = (response: ServerResponse): void => {
    total -= waiting.get(response) ?? 0;
    waiting.delete(response);
  };
  return (response: ServerResponse, bytes: number): void => {
    // Most bodies are with the system at once.
    if (response.writableLength === 0) return;
    waiting.set(response, bytes);
    total += bytes;
    response.once("close", () => remove(response));
    for (const slowest of waiting.keys()) {
      if (total <= MOST_UNSENT) return;
      remove(slowest);
      slowest.destroy();
    }
  };
}
