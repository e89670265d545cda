import { createServer, type Server } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { setImmediate } from "node:timers/promises";
import type { PetStore } from "@petstore/core";
import * as v from "valibot";
import { forServers, limitSchema, LONGEST_TIMER, parseOptions } from "../options.js";
import { closeWithoutReset } from "./connection.js";
import { dispatchMessages, type DispatchOptions } from "./dispatch.js";

/** The limits of Node's server. Seconds may be fractions; they are at most 2,147,483, and 0 turns a timeout off. */
export interface ServerLimits {
  /** From the first byte, or from the connection, to the end of the header section; after it, 408. Default: 8. */
  readonly headersTimeoutSeconds: number;
  /** From the first byte to the end of the body; after it, 408. At least `headersTimeoutSeconds`. Default: 12. */
  readonly requestTimeoutSeconds: number;
  /** How often both timeouts are checked, and so how late a slow request may be ended; 0 is a millisecond. Default: 0.5. */
  readonly connectionsCheckingIntervalSeconds: number;
  /** How long a connection may stay idle between two requests. Default: 5. */
  readonly keepAliveTimeoutSeconds: number;
  /**
   * How long a connection may be silent in both directions. A client that does not read its response is disconnected
   * after at most double this time. Default: 30.
   */
  readonly timeoutSeconds: number;
  /** The longest request line and header section together, in bytes; longer ones get 431. Default: 16,384. */
  readonly maxHeaderSize: number;
}

export const SERVER_LIMITS: ServerLimits = Object.freeze(v.parse(limitSchema, {}));

export interface PetStoreServerOptions extends Omit<DispatchOptions, "requestIds"> {
  /** Limits other than the default ones; an `undefined` one keeps its default. Durations are at most 2,147,483 s. */
  readonly limits?: { readonly [Name in keyof ServerLimits]?: number | undefined } | undefined;
}

export interface PetStoreServer extends Server {
  /**
   * Accepts no more connections and finishes the requests that are in progress or still arrive, with `Connection: close`.
   * Connections that stay idle are closed soon after, and the rest after `timeoutSeconds`: 10 by default, never if above
   * 2,147,483. Resolves when no connection is left.
   */
  drain(options?: { readonly timeoutSeconds?: number | undefined }): Promise<void>;
}

/**
 * Creates a server that responds to every message itself. A message that Node's parser refuses gets an Error body and
 * the rate limit headers of the socket's address, after the responses in progress. Every response has an `X-Request-Id`.
 * The default limits end a slow request within 15 s; Node's own are minutes long. Requests of one connection are handled
 * one after another.
 *
 * ```ts
 * const server = createPetStoreServer(store);
 * server.listen(3000);
 * process.once("SIGTERM", () => void server.drain({ timeoutSeconds: 10 }));
 * ```
 * @throws TypeError that names the option, if one is wrong.
 */
export function createPetStoreServer(
  store: PetStore,
  options: PetStoreServerOptions = {},
): PetStoreServer {
  let isDraining = false;
  const settings = { ...parseOptions(store, options, forServers), isDraining: () => isDraining };
  const limits: ServerLimits = v.parse(limitSchema, options.limits ?? {});
  const { headersTimeoutSeconds, requestTimeoutSeconds } = limits;
  if (requestTimeoutSeconds > 0 && headersTimeoutSeconds > requestTimeoutSeconds) {
    throw new TypeError(
      "@petstore/http-adapter: option limits.requestTimeoutSeconds must not be under headersTimeoutSeconds",
    );
  }
  const server = createServer({
    headersTimeout: millisecondsOf(headersTimeoutSeconds),
    requestTimeout: millisecondsOf(requestTimeoutSeconds),
    connectionsCheckingInterval: millisecondsOf(limits.connectionsCheckingIntervalSeconds),
    keepAliveTimeout: millisecondsOf(limits.keepAliveTimeoutSeconds),
    maxHeaderSize: limits.maxHeaderSize,
    requireHostHeader: false,
  });
  server.timeout = millisecondsOf(limits.timeoutSeconds);
  dispatchMessages(server, store, settings, options);
  const sockets = keepSockets(server);

  return Object.assign(server, {
    // A client may close its side after its last request and still wait for the response.
    httpAllowHalfOpen: true,
    drain: ({ timeoutSeconds = 10 } = {}) => {
      isDraining = true;
      return drain(server, sockets, timeoutSeconds * 1_000);
    },
  });
}

/** Node takes only whole milliseconds, and 0 for no limit. */
const millisecondsOf = (seconds: number): number => Math.ceil(seconds * 1_000);

function keepSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // Node sometimes removes its own listener, and an error without a listener ends the process.
    socket.on("error", () => undefined);
    // Node calls this after the last response.
    socket.destroySoon = () => closeWithoutReset(socket);
  });
  return sockets;
}

/** While draining, idle connections stay open for this long, in milliseconds: a request may be on its way. */
const GRACE = 500;

async function drain(server: Server, sockets: ReadonlySet<Socket>, milliseconds: number) {
  await acceptWaiting(server);
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const deadline = milliseconds <= LONGEST_TIMER ? setTimeout(cut, milliseconds) : undefined;
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    // Node does not treat a connection as idle that has never sent anything.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, GRACE);
  await new Promise<void>((resolve) => {
    // That of the HTTP server would also close idle connections at once, and stop its timeouts. On Bun, there is no other.
    const isTcpServer: boolean = server instanceof TcpServer;
    if (isTcpServer) TcpServer.prototype.close.call(server, () => resolve());
    else server.close(() => resolve());
  });
  clearTimeout(deadline);
  clearInterval(sweep);
}

/** After so many turns, the server is closed although connections still arrive. */
const MOST_TURNS = 1_000;

/** Accepts the connections that the system has already established: they would be reset when the server is closed. */
async function acceptWaiting(server: Server): Promise<void> {
  let hasAccepted = true;
  const accept = (): void => void (hasAccepted = true);
  server.on("connection", accept);
  // After an immediate, a whole turn follows: one without a connection leaves none waiting.
  await setImmediate();
  for (let turn = 0; hasAccepted && turn < MOST_TURNS; turn += 1) {
    hasAccepted = false;
    await setImmediate();
  }
  server.off("connection", accept);
}
