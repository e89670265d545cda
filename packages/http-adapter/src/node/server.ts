import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { parseServerOptions } from "../options.js";
import {
  internalError,
  methodNotAllowed,
  notFound,
  type Refusal,
  type UnreadableMessage,
} from "../refusal.js";
import { METHODS } from "../route.js";
import { connectionOf } from "./connection.js";
import { drain } from "./drain.js";
import { createFallback, type Fallback } from "./fallback.js";
import { socketAddress, type NodeOptions } from "./handler.js";
import { linger } from "./linger.js";
import { flawOf, type Expectation } from "./message.js";
import { refusalOf } from "./parser-error.js";
import { createResponder } from "./respond.js";
import { createUnreadRefusals } from "./unread.js";

/**
 * How long and how large a message may be before the store sees it: times in milliseconds, by Node's
 * own names.
 */
export interface ServerLimits {
  /** From the first byte, or the connection, to the end of the header section; then 408. */
  readonly headersTimeout: number;
  /** From the first byte to the end of the body; then 408. At least `headersTimeout`. */
  readonly requestTimeout: number;
  /** How often both are checked: how much later a slow request may end. */
  readonly connectionsCheckingInterval: number;
  /** How long a connection may stay idle between two requests. */
  readonly keepAliveTimeout: number;
  /** How long a connection may be silent in both directions, such as when its client does not read. */
  readonly timeout: number;
  /** How many bytes the request line and the header section may have together; then 431. */
  readonly maxHeaderSize: number;
}

/** The default limits: a slow request is gone within 15 s. */
export const SERVER_LIMITS: ServerLimits = Object.freeze({
  headersTimeout: 8_000,
  requestTimeout: 12_000,
  connectionsCheckingInterval: 500,
  keepAliveTimeout: 5_000,
  timeout: 30_000,
  maxHeaderSize: 16_384,
});

/** The limits to change; one that is left out, or `undefined`, keeps its default. */
type ChosenLimits = { readonly [Name in keyof ServerLimits]?: number | undefined };

/** The options of a server of ours; everything has a default. */
export interface PetStoreServerOptions extends Omit<NodeOptions, "requestIds"> {
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: ChosenLimits | undefined;
  /** Responds to the requests outside the base path. Default: 404 with an Error body. */
  readonly fallback?: Fallback | undefined;
}

/** A server of ours. */
export interface PetStoreServer extends Server {
  /**
   * Accepts no more connections and lets what is under way, and what still arrives, be responded to.
   * Each response then says `Connection: close`, connections that stay idle are closed a moment
   * later, and what is still open after `milliseconds` is cut. Resolves when no connection is left.
   */
  drain(milliseconds: number): Promise<void>;
}

/**
 * Creates a server that responds to every message itself, including those that Node's parser
 * refuses: those get an Error body and the rate limit headers of the socket's address, after the
 * responses under way. Every response carries an `X-Request-Id`. Node's own limits are minutes long;
 * these are `SERVER_LIMITS`. Requests of one connection are handled one after another.
 *
 * ```ts
 * const server = createPetStoreServer(store);
 * server.listen(3000);
 * process.once("SIGTERM", () => void server.drain(10_000));
 * ```
 * @throws TypeError that names the option, when one is wrong.
 */
export function createPetStoreServer(
  store: PetStore,
  options: PetStoreServerOptions = {},
): PetStoreServer {
  const settings = parseServerOptions(store, options);
  const { fallback, origin = socketAddress } = options;
  const { timeout, ...limits } = completeLimits(options.limits ?? {});
  const sockets = new Set<Socket>();
  let isDraining = false;
  const responder = createResponder(store, settings, () => isDraining);
  const refuseUnread = createUnreadRefusals(store, settings);
  const fallBack = fallback && createFallback(fallback, settings, refuseUnread, () => isDraining);

  const server = createServer({ ...limits, requireHostHeader: false });
  server.timeout = timeout;
  // A client may close its side once it has sent everything, and still wants the response.
  Object.assign(server, { httpAllowHalfOpen: true });

  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // Node removes its own listener at times, and an error without a listener ends the process.
    socket.on("error", ignore);
    // Node calls this after the last response.
    socket.destroySoon = () => linger(socket);
  });
  server.on("request", (request, response) => take("none", request, response));
  server.on("checkContinue", (request, response) => take("continue", request, response));
  server.on("checkExpectation", (request, response) => take("unknown", request, response));
  server.on("clientError", (error, socket) => {
    const refusal = refusalOf(error);
    if (refusal === undefined || !(socket instanceof Socket)) socket.destroy();
    else breakOff(refusal, socket);
  });
  server.on("connect", ({ socket }) => {
    // Node has removed its own listener here too.
    socket.on("timeout", () => socket.destroy());
    refuseNext(methodNotAllowed(METHODS), socket);
  });

  function take(
    expectation: Expectation,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const connection = connectionOf(request.socket);
    if (connection.isInputOver) return;
    connection.newest = request;
    connection.enqueue(async () => {
      const over = new Promise((resolve) => response.once("close", resolve));
      await respond(expectation, request, response);
      await over;
    });
  }

  async function respond(
    expectation: Expectation,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const exchange = { request, response, expectation, origin: () => origin(request) };
    const target = responder.locate(request);
    if (target !== undefined) {
      await responder.respond({ ...exchange, target });
      return;
    }
    const flaw = flawOf(request, expectation);
    if (flaw !== undefined) responder.refuse(flaw, exchange);
    else if (fallBack === undefined) responder.refuse(notFound(), exchange);
    else fallBack(exchange, () => responder.refuse(internalError(), exchange));
  }

  /** The rest of a connection cannot be read. */
  function breakOff(refusal: UnreadableMessage, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isInputOver) return;
    if (connection.newest === undefined || connection.newest.complete) {
      refuseNext(refusal, socket);
      return;
    }
    // The body of a request broke off: its own response says so, unless that is sent already.
    connection.isInputOver = true;
    connection.interruption = refusal;
    connection.onInterruption?.(refusal);
    connection.enqueue(() => linger(socket));
  }

  /** Refuses a message that is no request, after the responses before it. */
  function refuseNext(refusal: Refusal, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isInputOver) return;
    connection.isInputOver = true;
    connection.enqueue(() => refuseUnread(refusal, socket));
  }

  return Object.assign(server, {
    drain: (milliseconds: number) => {
      isDraining = true;
      return drain(server, sockets, milliseconds);
    },
  });
}

function completeLimits(chosen: ChosenLimits): ServerLimits {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval } = chosen;
  const { keepAliveTimeout, timeout, maxHeaderSize } = chosen;
  return {
    headersTimeout: headersTimeout ?? SERVER_LIMITS.headersTimeout,
    requestTimeout: requestTimeout ?? SERVER_LIMITS.requestTimeout,
    connectionsCheckingInterval:
      connectionsCheckingInterval ?? SERVER_LIMITS.connectionsCheckingInterval,
    keepAliveTimeout: keepAliveTimeout ?? SERVER_LIMITS.keepAliveTimeout,
    timeout: timeout ?? SERVER_LIMITS.timeout,
    maxHeaderSize: maxHeaderSize ?? SERVER_LIMITS.maxHeaderSize,
  };
}

function ignore(): void {
  // The socket closes after an error, and "close" is heard.
}
