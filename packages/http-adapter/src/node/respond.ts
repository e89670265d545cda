import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import type { HttpError } from "../error.js";
import { createHandle, type Handled } from "../handle.js";
import type { HttpRequest } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import { renderError } from "../render.js";
import { createReports, type SendReport } from "../report.js";
import { locate, type Target } from "../route.js";
import { readNodeBody } from "./body.js";
import { connectionOf } from "./connection.js";
import { flawOf, headerLines, isUpgrade, type Expectation } from "./message.js";
import { writeResponse, type Closing } from "./write.js";

/** A request of Node's and the response to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly expectation: Expectation;
  /** Tells callers without a valid key apart. */
  readonly origin: () => string | undefined;
}

/** Responds to Node's requests. Its methods neither throw nor reject. */
export interface Responder {
  /** Returns the target of a request, or `undefined` if it is not below the base path. */
  locate(request: IncomingMessage): Target | undefined;
  /** Responds to a request below the base path. Resolves when the response is passed to Node. */
  respond(exchange: Exchange, target: Target): Promise<void>;
  /** Responds with an error, without charging the caller. */
  refuse(error: HttpError, exchange: Exchange): void;
}

/** Creates the responder of a store. While `isDraining` returns true, every response closes its connection. */
export function createResponder(
  store: PetStore,
  settings: HttpSettings,
  isDraining: () => boolean = () => false,
): Responder {
  const { basePath, onError, rateLimitHeaders } = settings;
  const handle = createHandle(store, settings);
  const startReport = createReports(settings.onResponse, settings.clock);

  function write(
    { request, response }: Exchange,
    handled: Handled,
    closing: Closing,
    sendReport: SendReport | undefined,
  ): void {
    const requestId = settings.requestIdOf?.(request.headers["x-request-id"]);
    if (requestId !== undefined) handled.response.headers["X-Request-Id"] = requestId;
    const when = isDraining() ? "always" : closing;
    const isLast = writeResponse(request, response, handled.response, when);
    if (isLast) connectionOf(request.socket).isClosing = true;
    if (sendReport !== undefined) reportWhenClosed(sendReport, response, handled, requestId);
  }

  return {
    locate: (request) => locate(basePath, request.url ?? "", clientTarget(request)),
    respond: async (exchange, target) => {
      const sendReport = startReport();
      try {
        const request = toHttpRequest(exchange, settings);
        const handled = await handle(request, target);
        write(exchange, handled, request.closing(), sendReport);
      } catch (cause) {
        onError(cause);
        exchange.response.destroy();
      }
    },
    refuse: (error, exchange) => {
      const sendReport = startReport();
      try {
        const rateLimit = rateLimitHeaders(store.anonymousQuota(exchange.origin()));
        const rendered = renderError(error, rateLimit);
        const response = exchange.request.method === "HEAD" ? { ...rendered, body: "" } : rendered;
        const handled = { response, operation: undefined, code: error.code, keyId: undefined };
        const isLast = error.code !== "not_found" || isUpgrade(exchange.request);
        write(exchange, handled, isLast ? "always" : "if-long", sendReport);
      } catch (cause) {
        onError(cause);
        exchange.response.destroy();
      }
    },
  };
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

function reportWhenClosed(
  sendReport: SendReport,
  response: ServerResponse,
  { operation, code, keyId }: Handled,
  requestId: string | undefined,
): void {
  const send = (): void => {
    const status = response.headersSent ? response.statusCode : undefined;
    sendReport({ operation, status, code, keyId, requestId });
  };
  if (response.destroyed || !response.headersSent) send();
  else response.once("close", send);
}
