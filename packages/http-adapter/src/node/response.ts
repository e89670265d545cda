import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { notFound, type HttpError } from "../error.js";
import { createHandler, type Handled, type Handler } from "../handle.js";
import type { HttpResponse } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import type { Outcome, Report } from "../report.js";
import { locate, type Target } from "../route.js";
import { linger } from "./connection.js";
import { toHttpRequest, type Exchange } from "./request.js";

/** Responds to the messages of Node's connections. Its methods neither throw nor reject. */
export interface Responder {
  /** Returns the target of a request, or `undefined` if it is not below the base path. */
  readonly locate: (request: IncomingMessage) => Target | undefined;
  /** Responds to a request; without a target, with 404. Resolves when the response is passed to Node. */
  respond(exchange: Exchange, target: Target | undefined): Promise<void>;
  /** Responds to a request with an error, without charging the caller. */
  refuse(error: HttpError, exchange: Exchange): Promise<void>;
  /** Responds to input that is not a request, and closes the connection. */
  refuseInput(error: HttpError, socket: Socket): void;
}

/** Creates the responder of a store. While `isDraining` returns true, every response closes its connection. */
export function createResponder(
  store: PetStore,
  settings: HttpSettings,
  isDraining: () => boolean = () => false,
): Responder {
  const { basePath, maxBodySeconds, onError, startReport } = settings;
  const handler = createHandler(store, settings);

  /** Handles a request, writes its response and reports it. */
  async function send(
    { request, response }: Exchange,
    handle: () => Handled | Promise<Handled>,
    isLast: () => boolean,
  ): Promise<void> {
    const report = startReport(request.headers["x-request-id"]);
    try {
      const handled = await handle();
      addRequestId(handled, report);
      writeResponse(request, response, handled.response, isDraining() || isLast());
      reportWhenClosed(report, response, handled);
    } catch (cause) {
      onError(cause);
      response.destroy();
    }
  }

  function refuse(error: HttpError, exchange: Exchange): Promise<void> {
    const { method, origin, isLast } = toHttpRequest(exchange, maxBodySeconds);
    const handle = (): Handled => handler.refuse(error, method, origin());
    return send(exchange, handle, () => error.code !== "not_found" || isLast());
  }

  return {
    locate: (request) => locate(basePath, request.url ?? "", clientTarget(request)),
    respond: (exchange, target) => {
      if (target === undefined) return refuse(notFound(), exchange);
      const request = toHttpRequest(exchange, maxBodySeconds);
      return send(exchange, () => handler.handle(request, target), request.isLast);
    },
    refuse,
    refuseInput: (error, socket) => refuseInput(handler, settings, error, socket),
  };
}

function refuseInput(
  handler: Handler,
  { onError, startReport, clock }: HttpSettings,
  error: HttpError,
  socket: Socket,
): void {
  if (!socket.writable) return;
  const report = startReport(undefined);
  try {
    const handled = handler.refuse(error, "", socket.remoteAddress);
    addRequestId(handled, report);
    writeToSocket(socket, handled.response, clock.now());
    report.send?.(handled, handled.response.status);
  } catch (cause) {
    onError(cause);
  }
  linger(socket);
}

/** Express keeps the client's target here when a Router cuts its own prefix from `url`. */
function clientTarget(request: IncomingMessage): string | undefined {
  return "originalUrl" in request && typeof request.originalUrl === "string"
    ? request.originalUrl
    : undefined;
}

function addRequestId({ response }: Handled, { requestId }: Report): void {
  if (requestId !== undefined) response.headers["X-Request-Id"] = requestId;
}

/** Writes a response, unless the client has disconnected or the host has responded meanwhile. */
function writeResponse(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  isLast: boolean,
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
    // Node calls this after the last response.
    socket.destroySoon = () => linger(socket);
    headers["Connection"] = "close";
  }
  response.writeHead(status, headers);
  // `end(body)` would pass two chunks to the socket; one chunk takes a shorter path through Node.
  response.socket?.cork();
  response.write(body);
  response.socket?.uncork();
  response.end();
}

/** Writes a response without a request, as the last one of its connection. */
function writeToSocket(socket: Socket, { status, headers, body }: HttpResponse, now: number): void {
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const date = `Date: ${new Date(now).toUTCString()}`;
  socket.write([statusLine, ...lines, date, "Connection: close", "", body].join("\r\n"));
}

function reportWhenClosed(report: Report, response: ServerResponse, outcome: Outcome): void {
  if (report.send === undefined) return;
  const send = (): void => sendReport(report, response, outcome);
  if (response.destroyed || !response.headersSent) send();
  else response.once("close", send);
}

/** Sends the report of a response that is closed. It has no status if the client disconnected before. */
export function sendReport({ send }: Report, response: ServerResponse, outcome: Outcome): void {
  send?.(outcome, response.headersSent ? response.statusCode : undefined);
}
