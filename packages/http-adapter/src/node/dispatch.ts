import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import {
  badRequest,
  chunkExtensionsTooLong,
  headersTooLarge,
  internalError,
  methodNotAllowed,
  requestTimeout,
  type UnreadableMessage,
} from "../error.js";
import type { HttpSettings } from "../options.js";
import { METHODS } from "../route.js";
import { connectionOf, linger } from "./connection.js";
import { flawOf, isUpgrade, unknownVersion, type Exchange } from "./request.js";
import { createResponder, sendReport, type Responder } from "./response.js";

/** Responds to the requests of a server outside the base path. */
export type Fallback = (request: IncomingMessage, response: ServerResponse) => unknown;

interface DispatchOptions {
  readonly origin: (request: IncomingMessage) => string | undefined;
  readonly fallback: Fallback | undefined;
  readonly isDraining: () => boolean;
}

/** Responds to all messages of a server. Each waits for the earlier ones of its connection. */
export function dispatchMessages(
  server: Server,
  store: PetStore,
  settings: HttpSettings,
  { origin, fallback, isDraining }: DispatchOptions,
): void {
  const responder = createResponder(store, settings, isDraining);
  const callFallback = fallback && createFallback(fallback, responder, settings, isDraining);

  /** Responds to a request. Resolves when the response is closed. */
  async function respond(exchange: Exchange): Promise<void> {
    const { request, response, isWaiting } = exchange;
    const closed = new Promise((resolve) => response.once("close", resolve));
    const target = responder.locate(request);
    const flaw = target === undefined ? flawOf(request, isWaiting) : undefined;
    if (flaw !== undefined) await responder.refuse(flaw, exchange);
    else if (target === undefined && callFallback !== undefined) void callFallback(exchange);
    else await responder.respond(exchange, target);
    await closed;
  }

  function take(request: IncomingMessage, response: ServerResponse, isWaiting: boolean): void {
    const connection = connectionOf(request.socket);
    if (connection.inputError !== undefined) return;
    connection.newest = request;
    const exchange = { request, response, isWaiting, origin: () => origin(request) };
    connection.enqueue(() => respond(exchange));
  }

  server.on("request", (request, response) => take(request, response, false));
  server.on("checkContinue", (request, response) => take(request, response, true));
  server.on("checkExpectation", (request, response) => take(request, response, true));
  server.on("clientError", (cause, socket) => {
    const error = errorOfParser(cause);
    if (error === undefined || !(socket instanceof Socket)) socket.destroy();
    else breakOff(responder, error, socket);
  });
  server.on("connect", ({ socket }) => {
    // Node has removed its own listener for CONNECT.
    socket.on("timeout", () => socket.destroy());
    connectionOf(socket).enqueue(() => responder.refuseInput(methodNotAllowed(METHODS), socket));
  });
}

/** Responds to input that cannot be read, and closes its connection. */
function breakOff(responder: Responder, error: UnreadableMessage, socket: Socket): void {
  const connection = connectionOf(socket);
  if (connection.inputError !== undefined) return;
  connection.inputError = error;
  connection.onInputError?.(error);
  // A request that ends in its body has the error in its own response, unless that is already sent.
  const isInBody = connection.newest?.complete === false;
  connection.enqueue(() => (isInBody ? linger(socket) : responder.refuseInput(error, socket)));
}

/** Creates the function that lets the fallback respond to a request. It never rejects. */
function createFallback(
  fallback: Fallback,
  responder: Responder,
  { onError, startReport }: HttpSettings,
  isDraining: () => boolean,
): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const { request, response, isWaiting } = exchange;
    const { socket } = request;
    const connection = connectionOf(socket);
    const report = startReport(request.headers["x-request-id"]);

    function finish(): void {
      connection.onInputError = undefined;
      sendReport(report, response, UNKNOWN_OUTCOME);
    }
    function interrupt(error: UnreadableMessage): void {
      if (request.complete || response.headersSent) return;
      response.off("close", finish).detachSocket(socket);
      responder.refuseInput(error, socket);
    }
    response.once("close", finish);
    if (connection.inputError !== undefined && !request.complete) {
      interrupt(connection.inputError);
      return;
    }
    connection.onInputError = interrupt;

    if (report.requestId !== undefined) response.setHeader("X-Request-Id", report.requestId);
    if (isDraining() || isUpgrade(request)) response.setHeader("Connection", "close");
    if (isWaiting) response.writeContinue();
    try {
      await fallback(request, response);
    } catch (cause) {
      onError(cause);
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      response.off("close", finish);
      await responder.refuse(internalError(), exchange);
    }
  };
}

/** The store knows neither an operation nor a key of a response that the fallback sends. */
const UNKNOWN_OUTCOME = Object.freeze({ operation: undefined, code: undefined, keyId: undefined });

/**
 * Returns the error to send when Node's parser refuses a message with this error of `clientError`;
 * `undefined` if no HTTP client is left to receive it (a reset, a failed TLS handshake).
 *
 * A version other than 1.0 and 1.1 is 400 rather than 505, because the client made the mistake (RFC
 * 9110, section 15.6.6, lets a server choose).
 */
function errorOfParser(error: Error): UnreadableMessage | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  switch (code) {
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
      return unknownVersion();
    default:
      // The codes of llhttp, Node's parser.
      return code.startsWith("HPE_") ? badRequest(describe(error)) : undefined;
  }
}

/** llhttp's reasons are fixed texts: they never repeat what the client sent. */
function describe(error: Error): string {
  const reason = "reason" in error && typeof error.reason === "string" ? error.reason : "";
  return reason === ""
    ? "The request is not valid HTTP."
    : `The request is not valid HTTP: ${reason}.`;
}
