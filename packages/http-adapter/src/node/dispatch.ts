import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { internalError, notFound, type HttpError, type UnreadableMessage } from "../error.js";
import type { ServerSettings } from "../options.js";
import { renderError } from "../render.js";
import { createReports } from "../report.js";
import { connectionOf, linger } from "./connection.js";
import { flawOf, isUpgrade, type Expectation } from "./message.js";
import { createResponder, type Exchange } from "./respond.js";
import { writeLastResponse } from "./write.js";

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
  settings: ServerSettings,
  options: DispatcherOptions,
): Dispatcher {
  const { origin } = options;
  const refuseUnread = createUnreadRefusals(store, settings);
  const respond = createRespond(store, settings, options, refuseUnread);

  function refuse(error: HttpError, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isInputOver) return;
    connection.isInputOver = true;
    connection.enqueue(() => refuseUnread(error, socket));
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
      const connection = connectionOf(socket);
      if (connection.isInputOver) return;
      if (connection.newest === undefined || connection.newest.complete) {
        refuse(error, socket);
        return;
      }
      // The body of a request broke off. Its own response has the error, unless it is already sent.
      connection.isInputOver = true;
      connection.interruption = error;
      connection.onInterruption?.(error);
      connection.enqueue(() => linger(socket));
    },
    refuse,
  };
}

type Respond = (exchange: Exchange) => Promise<void>;

/** Creates the function that responds to a request. It resolves when the response is closed. */
function createRespond(
  store: PetStore,
  settings: ServerSettings,
  { fallback, isDraining }: DispatcherOptions,
  refuseUnread: RefuseUnread,
): Respond {
  const responder = createResponder(store, settings, isDraining);
  const callFallback = fallback && createFallback(fallback, settings, refuseUnread, isDraining);

  function respondOutside(exchange: Exchange): void {
    const flaw = flawOf(exchange.request, exchange.expectation);
    if (flaw !== undefined) responder.refuse(flaw, exchange);
    else if (callFallback === undefined) responder.refuse(notFound(), exchange);
    else callFallback(exchange, () => responder.refuse(internalError(), exchange));
  }

  return async (exchange) => {
    const closed = new Promise((resolve) => exchange.response.once("close", resolve));
    const target = responder.locate(exchange.request);
    if (target === undefined) respondOutside(exchange);
    else await responder.respond(exchange, target);
    await closed;
  };
}

type RefuseUnread = (error: HttpError, socket: Socket) => void;

/** Creates the function that sends the last response of a connection when no request can be read. */
function createUnreadRefusals(
  store: PetStore,
  { onError, onResponse, requestIdOf, clock, rateLimitHeaders }: ServerSettings,
): RefuseUnread {
  const startReport = createReports(onResponse, clock);
  return (error, socket) => {
    if (!socket.writable) return;
    const sendReport = startReport();
    try {
      const quota = store.anonymousQuota(socket.remoteAddress);
      const response = renderError(error, rateLimitHeaders(quota));
      const requestId = requestIdOf(undefined);
      response.headers["X-Request-Id"] = requestId;
      response.headers["Date"] = new Date(clock.now()).toUTCString();
      writeLastResponse(socket, response);
      const { code } = error;
      const { status } = response;
      sendReport?.({ operation: undefined, status, code, keyId: undefined, requestId });
    } catch (cause) {
      onError(cause);
    }
    linger(socket);
  };
}

/** Creates the function that calls the fallback. If the fallback throws, it calls `fail` to respond. */
function createFallback(
  fallback: Fallback,
  { onError, onResponse, requestIdOf, clock }: ServerSettings,
  refuseUnread: RefuseUnread,
  isDraining: () => boolean,
): (exchange: Exchange, fail: () => void) => void {
  const startReport = createReports(onResponse, clock);

  return ({ request, response, expectation }, fail) => {
    const { socket } = request;
    const connection = connectionOf(socket);
    const sendReport = startReport();
    const requestId = requestIdOf(request.headers["x-request-id"]);
    const finish = (): void => {
      connection.onInterruption = undefined;
      const status = response.headersSent ? response.statusCode : undefined;
      sendReport?.({ operation: undefined, status, code: undefined, keyId: undefined, requestId });
    };
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
        fail();
      }
    }

    response.once("close", finish);
    connection.onInterruption = (error) => {
      if (request.complete || response.headersSent) return;
      response.off("close", finish).detachSocket(socket);
      refuseUnread(error, socket);
    };
    if (connection.interruption !== undefined && !request.complete) {
      connection.onInterruption(connection.interruption);
      return;
    }
    response.setHeader("X-Request-Id", requestId);
    if (isDraining() || isUpgrade(request)) response.setHeader("Connection", "close");
    if (expectation === "continue") response.writeContinue();
    void call();
  };
}
