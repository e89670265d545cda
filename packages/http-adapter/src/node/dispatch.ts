import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import * as errors from "../error.js";
import type { Glimpse } from "../handle.js";
import type { HttpSettings } from "../options.js";
import { ALLOWED_METHODS } from "../request/route.js";
import { closeWithoutReset, connectionOf, createRunInTurn, inputErrorOf } from "./connection.js";
import type { Exchange } from "./connection.js";
import { socketAddress, type NodeHandler, type NodeOptions } from "./handler.js";
import { flawOf, isUpgrade, unknownVersion } from "./request.js";
import { createResponder, locateRequest, sendReport, type Responder } from "./response.js";

/** Responds to the requests of a server outside the base path, or calls `next` for the store's 404. */
export type Fallback = (...message: Required<Parameters<NodeHandler>>) => unknown;

export interface DispatchOptions extends NodeOptions {
  /** Responds to the requests outside the base path. Default: 404 with an Error body. */
  readonly fallback?: Fallback | undefined;
}

/** Responds to all messages of a server. Each waits for the earlier ones of its connection. */
export function dispatchMessages(
  server: Server,
  store: PetStore,
  settings: HttpSettings,
  { clientAddress: addressOf = socketAddress, fallback }: DispatchOptions,
): void {
  const responder = createResponder(store, settings);
  const callFallback = fallback && createFallback(fallback, responder, settings);

  const runInTurn = createRunInTurn((exchange) => {
    if (exchange.target || !callFallback) return responder.respond(exchange);
    const flaw = flawOf(exchange) ?? inputErrorOf(exchange.request);
    return flaw ? responder.respond(exchange, flaw) : callFallback(exchange);
  });

  function take(request: IncomingMessage, response: ServerResponse, hasOpenExpect: boolean): void {
    const connection = connectionOf(request.socket);
    if (connection.inputError !== undefined || request.socket.destroyed) return;
    const target = locateRequest(settings.basePath, request);
    const clientAddress = () => addressOf(request);
    const exchange = { request, response, hasOpenExpect, clientAddress, target };
    connection.newest = exchange;
    response.on("close", () => {
      // An idle connection keeps nothing of its last exchange: the garbage collector would copy it.
      if (connection.newest !== exchange || !request.complete) return;
      connection.newest = undefined;
      connection.onInputError = undefined;
    });
    runInTurn(exchange);
  }

  server.on("request", (request, response) => take(request, response, false));
  server.on("checkContinue", (request, response) => take(request, response, true));
  server.on("checkExpectation", (request, response) => take(request, response, true));
  server.on("clientError", (cause, socket) => {
    const error = errorOfParser(cause);
    if (error === undefined || !(socket instanceof Socket)) socket.destroy();
    else breakOff(responder, error, socket, glimpse(cause));
  });
  server.on("connect", ({ socket, method }) => {
    // Node has removed its own listener for CONNECT.
    socket.on("timeout", () => socket.destroy());
    runLast(socket, () =>
      responder.refuseInput(errors.methodNotAllowed(ALLOWED_METHODS), socket, { method }),
    );
  });
}

function runLast(socket: Socket, task: () => void): void {
  const { newest } = connectionOf(socket);
  if (newest === undefined || newest.response.destroyed) task();
  else newest.response.once("close", task);
}

function breakOff(
  responder: Responder,
  error: errors.UnreadableMessage,
  socket: Socket,
  seen: Glimpse,
): void {
  const connection = connectionOf(socket);
  if (connection.inputError !== undefined) return;
  connection.inputError = error;
  connection.onInputError?.(error);
  // A request that ends in its body has the error in its own response, unless that is already sent.
  const isInBody = connection.newest?.request.complete === false;
  runLast(socket, () =>
    isInBody ? closeWithoutReset(socket) : responder.refuseInput(error, socket, seen),
  );
}

interface ParserError extends Error {
  readonly code?: unknown;
  readonly reason?: string;
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
}

/** Returns what the packet that Node's parser refuses shows of the message, if its head begins with the packet. */
function glimpse({ rawPacket, bytesParsed = Infinity }: ParserError): Glimpse {
  if (!(rawPacket instanceof Uint8Array)) return {};
  const [head = ""] = Buffer.from(rawPacket).toString("latin1").split("\r\n\r\n", 1);
  // Else the packet begins with an earlier message, and the refused one is behind it.
  if (bytesParsed >= head.length + 4) return {};
  const [method] = /^[A-Z]+(?= )/.exec(head) ?? [];
  // White space is not for the expression: it would take quadratic time.
  const lines = head.matchAll(/\r\norigin:(.*)/gi);
  const origins = Array.from(lines, ([, line = ""]) => line.trim());
  return origins.length > 0 ? { method, origins } : { method };
}

/** Creates the function that lets the fallback respond, unless a listener of the host has. It never rejects. */
function createFallback(fallback: Fallback, responder: Responder, settings: HttpSettings) {
  const { onError, startReport, isDraining } = settings;
  return async (exchange: Exchange): Promise<void> => {
    if (exchange.response.headersSent) return;
    const { request, response, hasOpenExpect } = exchange;
    const report = startReport(request.headers["x-request-id"], request.method);
    const finish = (): void => sendReport(report, response, {});
    response.once("close", finish);
    connectionOf(request.socket).onInputError = (error) => {
      if (request.complete || response.headersSent) return;
      response.off("close", finish);
      // It ends the socket: anything that the fallback writes from now on is not sent.
      const { socket, method, headers } = request;
      responder.refuseInput(error, socket, { method, origins: [headers.origin ?? []].flat() });
    };
    if (report.requestId !== undefined) response.setHeader("X-Request-Id", report.requestId);
    if (isDraining() || isUpgrade(request)) response.setHeader("Connection", "close");
    if (hasOpenExpect) response.writeContinue();
    const state = { isPassedOn: false };
    const respond = (error?: errors.HttpError): Promise<void> => {
      state.isPassedOn = true;
      response.off("close", finish);
      return responder.respond(exchange, error);
    };
    const next = (): void => {
      if (!state.isPassedOn) void respond();
    };
    try {
      await fallback(request, response, next);
    } catch (cause) {
      onError(cause);
      if (state.isPassedOn) return;
      if (response.headersSent || response.destroyed) response.destroy();
      else {
        // They describe the response that the fallback did not send.
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        response.statusMessage = "";
        await respond(errors.internalError());
      }
    }
  };
}

/**
 * Returns the error to send when Node's parser refuses a message with this error of `clientError`;
 * `undefined` if no HTTP client is left to receive it (a reset, a failed TLS handshake).
 */
function errorOfParser({ code: anyCode, reason = "" }: ParserError) {
  const code = String(anyCode);
  const known = ERRORS_OF_PARSER[code];
  if (known !== undefined) return known();
  // Only the errors of llhttp, Node's parser, have such codes. Its reasons never repeat what the client sent.
  if (!code.startsWith("HPE_")) return undefined;
  return errors.badRequest(`The request is not valid HTTP${reason && `: ${reason}`}.`);
}

const ERRORS_OF_PARSER: Readonly<Record<string, () => errors.UnreadableMessage>> = {
  ERR_HTTP_REQUEST_TIMEOUT: errors.requestTimeout,
  HPE_HEADER_OVERFLOW: errors.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: errors.chunkExtensionsTooLong,
  HPE_INVALID_EOF_STATE: () => errors.badRequest("The request ended early."),
  HPE_INVALID_VERSION: unknownVersion,
  HPE_PAUSED_H2_UPGRADE: unknownVersion,
};
