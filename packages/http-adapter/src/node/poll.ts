import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { NodeServer } from "./mount.js";

/** For how many turns of the event loop a server polls. A turn without work takes about 2 µs. */
const TURNS = 100;

/** At most this many responses in a row are not followed by polling. */
const LONGEST_PAUSE = 63;

/**
 * Lets a server poll for the next request, for about 200 µs after a response, before its process sleeps.
 * Waking a process up takes tens of microseconds, more on a virtual machine, and its caches are then
 * cold. Polling helps a caller that is alone, waits for each response, and sends its next request within
 * that time. If requests come later or on several connections, the server polls less and less
 * often, down to after one of 64 responses, because other processes may need the core.
 *
 * While it polls, the event loop does not count as idle. On Bun, which does not publish the diagnostics
 * channels of Node's servers, it has no effect.
 *
 * ```ts
 * const server = createPetStoreServer(store);
 * pollForRequests(server);
 * server.listen(3000);
 * ```
 */
export function pollForRequests(server: NodeServer): void {
  const polling = createPolling();
  const onRequest = (message: unknown): void => {
    if (isOf(server, message)) polling.stop(message.socket);
  };
  const onResponse = (message: unknown): void => {
    if (isOf(server, message)) polling.start(message.socket);
  };
  const start = (): void => {
    subscribe("http.server.request.start", onRequest);
    subscribe("http.server.response.finish", onResponse);
  };
  server.on("listening", start).on("close", () => {
    unsubscribe("http.server.request.start", onRequest);
    unsubscribe("http.server.response.finish", onResponse);
  });
  if (server.listening) start();
}

/** Whether a message of a diagnostics channel is about this server. */
function isOf(server: NodeServer, message: unknown): message is { readonly socket: unknown } {
  return (
    typeof message === "object" &&
    message !== null &&
    "server" in message &&
    "socket" in message &&
    message.server === server
  );
}

/** Keeps the event loop turning, so that it does not sleep. */
interface Polling {
  /** To be called after a response on this connection. */
  start(connection: unknown): void;
  /** To be called when a request has arrived on this connection. */
  stop(connection: unknown): void;
}

function createPolling(): Polling {
  let expected: unknown;
  let turnsLeft = 0;
  let isScheduled = false;
  /** How many responses are not followed by polling, and how many of them are still to come. */
  let pause = 0;
  let pauseLeft = 0;

  const poll = (): void => {
    turnsLeft -= 1;
    if (turnsLeft > 0) {
      setImmediate(poll);
      return;
    }
    isScheduled = false;
    // After `stop`, which has decided, it is negative.
    if (turnsLeft === 0) backOff();
  };

  const backOff = (): void => {
    pause = Math.min(2 * pause + 1, LONGEST_PAUSE);
    pauseLeft = pause;
  };

  return {
    start: (connection) => {
      if (pauseLeft > 0) {
        pauseLeft -= 1;
        return;
      }
      expected = connection;
      turnsLeft = TURNS;
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(poll);
    },
    stop: (connection) => {
      if (turnsLeft <= 0) return;
      turnsLeft = 0;
      if (connection === expected) pause = 0;
      else backOff();
    },
  };
}
