import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { internalError, type HttpError, type UnreadableMessage } from "../error.js";
import type { HttpSettings } from "../options.js";
import { connectionOf, linger } from "./connection.js";
import { flawOf, isUpgrade, type Expectation } from "./message.js";
import { createResponder, sendReport, type Exchange, type Responder } from "./respond.js";

/** Responds to the requests of a server outside the base path. */
export type Fallback = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Takes the messages of all connections of a server. Each waits for the earlier ones of its connection. */
export interface Dispatcher {
  /** Responds to a request. */
  take(expectation: Expectation, request: IncomingMessage, response: ServerResponse): void;
  /** Responds to input that cannot be read, and closes its connection. */
  breakOff(error: UnreadableMessage, socket: Socket): void;
  /** Responds to a message that is not a request, and closes its connection. */
  refuse(error: HttpError, socket: Socket): void;
}

interface DispatcherOptions {
  readonly origin: (request: IncomingMessage) => string | undefined;
  readonly fallback: Fallback | undefined;
  readonly isDraining: () => boolean;
}

/** Creates the dispatcher of a server. */
export function createDispatcher(
  store: PetStore,
  settings: HttpSettings,
  { origin, fallback, isDraining }: DispatcherOptions,
): Dispatcher {
  const responder = createResponder(store, settings, isDraining);
  const callFallback = fallback && createFallback(fallback, responder, settings, isDraining);

  /** Responds to a request. Resolves when the response is closed. */
  async function respond(exchange: Exchange): Promise<void> {
    const { request, response, expectation } = exchange;
    const closed = new Promise((resolve) => response.once("close", resolve));
    const target = responder.locate(request);
    const flaw = target === undefined ? flawOf(request, expectation) : undefined;
    if (flaw !== undefined) await responder.refuse(flaw, exchange);
    else if (target === undefined && callFallback !== undefined) callFallback(exchange);
    else await responder.respond(exchange, target);
    await closed;
  }

  function refuse(error: HttpError, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isInputOver) return;
    connection.isInputOver = true;
    connection.enqueue(() => responder.refuseInput(error, socket));
  }

  return {
    take: (expectation, request, response) => {
      const connection = connectionOf(request.socket);
      if (connection.isInputOver) return;
      connection.newest = request;
      const exchange = { request, response, expectation, origin: () => origin(request) };
      connection.enqueue(() => respond(exchange));
    },
    breakOff: (error, socket) => {
      if (connectionOf(socket).newest?.complete === false) interrupt(error, socket);
      else refuse(error, socket);
    },
    refuse,
  };
}

/** Ends the newest request in its body. Its own response has the error, unless it is already sent. */
function interrupt(error: UnreadableMessage, socket: Socket): void {
  const connection = connectionOf(socket);
  if (connection.isInputOver) return;
  connection.isInputOver = true;
  connection.interruption = error;
  connection.onInterruption?.(error);
  connection.enqueue(() => linger(socket));
}

/** Creates the function that calls the fallback. */
function createFallback(
  fallback: Fallback,
  responder: Responder,
  { onError, startReport }: HttpSettings,
  isDraining: () => boolean,
): (exchange: Exchange) => void {
  return (exchange) => {
    const { request, response, expectation } = exchange;
    const { socket } = request;
    const connection = connectionOf(socket);
    const report = startReport(request.headers["x-request-id"]);

    const finish = (): void => {
      connection.inFallback = undefined;
      connection.onInterruption = undefined;
      sendReport(report, response, UNKNOWN_OUTCOME);
    };
    response.once("close", finish);

    connection.onInterruption = (error) => {
      if (request.complete || response.headersSent) return;
      response.off("close", finish).detachSocket(socket);
      responder.refuseInput(error, socket);
    };
    if (connection.interruption !== undefined && !request.complete) {
      connection.onInterruption(connection.interruption);
      return;
    }

    async function call(): Promise<void> {
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
    }
    connection.inFallback = request;
    if (report.requestId !== undefined) response.setHeader("X-Request-Id", report.requestId);
    if (isDraining() || isUpgrade(request)) response.setHeader("Connection", "close");
    if (expectation === "continue") response.writeContinue();
    void call();
  };
}

/** The store knows neither an operation nor a key of a response that the fallback sends. */
const UNKNOWN_OUTCOME = Object.freeze({ operation: undefined, code: undefined, keyId: undefined });
