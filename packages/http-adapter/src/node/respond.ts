import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import { createHandle, type Handled } from "../handle.js";
import type { HttpRequest } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import type { Refusal } from "../refusal.js";
import { renderError } from "../render.js";
import { createReports, type Report } from "../report.js";
import { locate, type Target } from "../route.js";
import { readNodeBody } from "./body.js";
import { connectionOf } from "./connection.js";
import { flawOf, headerLines, type Expectation } from "./message.js";
import { writeResponse, type Closing } from "./write.js";

/** A request of Node's below the base path, and what its host knows about it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly expectation: Expectation;
  /** Tells callers without a valid key apart. */
  readonly origin: () => string | undefined;
}

/** The way from Node's messages to the engine and back. */
export interface Responder {
  /** The target of a request below the base path; `undefined` when it goes elsewhere. */
  locate(request: IncomingMessage): Target | undefined;
  /** Responds to a request. Resolves when the response is handed to Node. */
  respond(exchange: Exchange): Promise<void>;
  /** Refuses a request at no cost. */
  refuse(refusal: Refusal, exchange: Omit<Exchange, "target" | "expectation">): void;
}

/** A responder for a store. `isDraining` says whether every connection is to be closed. */
export function createResponder(
  store: PetStore,
  settings: HttpSettings,
  isDraining: () => boolean = () => false,
): Responder {
  const { basePath, maxBodyBytes, maxBodySeconds, onError } = settings;
  const handle = createHandle(store, maxBodyBytes, onError);
  const startReport = createReports(settings.onResponse, settings.clock);
  const limits = { bytes: maxBodyBytes, seconds: maxBodySeconds };

  /** Shows Node's request to the engine. */
  function read({ request, response, expectation, origin }: Exchange) {
    const connection = connectionOf(request.socket);
    let isWaiting = expectation !== "none";
    let isRead = false;
    const flaw = flawOf(request, expectation);
    const message: HttpRequest = {
      method: request.method ?? "",
      flaw,
      connection: request.socket,
      origin,
      lines: (name) => headerLines(request, name),
      readBody: () => {
        if (isWaiting) response.writeContinue();
        isWaiting = false;
        isRead = true;
        return readNodeBody(request, limits, connection);
      },
    };
    const closing = (): Closing => {
      // Node's parser loses what follows a request with "Upgrade" in the same packet.
      if (flaw !== undefined || request.headers.upgrade !== undefined) return "always";
      const isBroken = isRead || connection.interruption !== undefined;
      return isWaiting || isBroken ? "if-unread" : "if-long";
    };
    return { message, closing };
  }

  function write(
    { request, response }: Pick<Exchange, "request" | "response">,
    { response: rendered, operation, code, keyId }: Handled,
    closing: Closing,
    report: Report | undefined,
  ): void {
    const requestId = settings.requestIdOf?.(request.headers["x-request-id"]);
    const named =
      requestId === undefined
        ? rendered
        : { ...rendered, headers: { ...rendered.headers, "X-Request-Id": requestId } };
    const isLast = writeResponse(request, response, named, isDraining() ? "always" : closing);
    if (isLast) connectionOf(request.socket).isClosing = true;
    if (report === undefined) return;
    const over = (): void => {
      const status = response.headersSent ? response.statusCode : undefined;
      report({ operation, status, code, keyId, requestId });
    };
    if (response.destroyed || !response.headersSent) over();
    else response.once("close", over);
  }

  return {
    locate: (request) => locate(basePath, request.url ?? "", clientTarget(request)),
    respond: async (exchange) => {
      const report = startReport();
      try {
        const { message, closing } = read(exchange);
        const handled = await handle(message, exchange.target);
        write(exchange, handled, closing(), report);
      } catch (cause) {
        onError(cause);
        exchange.response.destroy();
      }
    },
    refuse: (refusal, exchange) => {
      const report = startReport();
      const { code } = refusal;
      try {
        const rendered = renderError(refusal, store.anonymousQuota(exchange.origin()));
        const response = exchange.request.method === "HEAD" ? { ...rendered, body: "" } : rendered;
        const handled = { response, operation: undefined, code, keyId: undefined };
        write(exchange, handled, code === "not_found" ? "if-long" : "always", report);
      } catch (cause) {
        onError(cause);
        exchange.response.destroy();
      }
    },
  };
}

/** Express keeps the target here before a Router cuts its own prefix from `url`. */
function clientTarget(request: IncomingMessage): string | undefined {
  return "originalUrl" in request && typeof request.originalUrl === "string"
    ? request.originalUrl
    : undefined;
}
