import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { notFound, type HttpError } from "../error.js";
import { createHandler, type Handled } from "../handle.js";
import type { HttpRequest } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import type { Outcome, Report } from "../report.js";
import { locate, type Target } from "../route.js";
import { readNodeBody } from "./body.js";
import { connectionOf, linger } from "./connection.js";
import { flawOf, headerLines, isUpgrade, type Expectation } from "./message.js";
import { writeLastResponse, writeResponse, type Closing } from "./write.js";

/** A request of Node's and the response to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly expectation: Expectation;
  /** Tells callers without a valid key apart. */
  readonly origin: () => string | undefined;
}

/** Responds to the messages of Node's connections. Its methods neither throw nor reject. */
export interface Responder {
  /** Returns the target of a request, or `undefined` if it is not below the base path. */
  locate(request: IncomingMessage): Target | undefined;
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
  const { basePath, onError, startReport, clock } = settings;
  const handler = createHandler(store, settings);
  const send = createSend(settings, isDraining);

  function refuse(error: HttpError, exchange: Exchange): Promise<void> {
    const { request, origin } = exchange;
    const isLast = error.code !== "not_found" || isUpgrade(request);
    const closing = isLast ? "always" : "if-long";
    const handle = (): Handled => handler.refuse(error, request.method ?? "", origin());
    return send(exchange, handle, () => closing);
  }

  return {
    locate: (request) => locate(basePath, request.url ?? "", clientTarget(request)),
    respond: (exchange, target) => {
      if (target === undefined) return refuse(notFound(), exchange);
      const request = toHttpRequest(exchange, settings);
      return send(exchange, () => handler.handle(request, target), request.closing);
    },
    refuse,
    refuseInput: (error, socket) => {
      if (!socket.writable) return;
      const report = startReport(undefined);
      try {
        const handled = handler.refuse(error, "", socket.remoteAddress);
        addRequestId(handled, report);
        writeLastResponse(socket, handled.response, clock.now());
        report.send?.(handled, handled.response.status);
      } catch (cause) {
        onError(cause);
      }
      linger(socket);
    },
  };
}

type Send = (
  exchange: Exchange,
  handle: () => Handled | Promise<Handled>,
  closing: () => Closing,
) => Promise<void>;

/** Creates the function that handles a request, writes its response and reports it. */
function createSend({ onError, startReport }: HttpSettings, isDraining: () => boolean): Send {
  return async ({ request, response }, handle, closing) => {
    const report = startReport(request.headers["x-request-id"]);
    try {
      const handled = await handle();
      addRequestId(handled, report);
      const when = isDraining() ? "always" : closing();
      const isLast = writeResponse(request, response, handled.response, when);
      if (isLast) connectionOf(request.socket).isClosing = true;
      reportWhenClosed(report, response, handled);
    } catch (cause) {
      onError(cause);
      response.destroy();
    }
  };
}

function addRequestId({ response }: Handled, { requestId }: Report): void {
  if (requestId !== undefined) response.headers["X-Request-Id"] = requestId;
}

/** Express keeps the client's target here when a Router cuts its own prefix from `url`. */
function clientTarget(request: IncomingMessage): string | undefined {
  return "originalUrl" in request && typeof request.originalUrl === "string"
    ? request.originalUrl
    : undefined;
}

interface NodeRequest extends HttpRequest {
  /** Returns when the response closes the connection; to be called when the request is handled. */
  readonly closing: () => Closing;
}

function toHttpRequest(
  { request, response, expectation, origin }: Exchange,
  settings: HttpSettings,
): NodeRequest {
  const { socket } = request;
  const connection = connectionOf(socket);
  const flaw = flawOf(request, expectation);
  let isWaiting = expectation !== "none";
  let isRead = false;
  return {
    method: request.method ?? "",
    flaw,
    connection: socket,
    origin,
    lines: (name) => headerLines(request, name),
    readBody: () => {
      if (isWaiting) response.writeContinue();
      isWaiting = false;
      isRead = true;
      return readNodeBody(request, settings, connection);
    },
    closing: () => {
      if (flaw !== undefined || isUpgrade(request)) return "always";
      const isBroken = isRead || connection.interruption !== undefined;
      return isWaiting || isBroken ? "if-unread" : "if-long";
    },
  };
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
