import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { NodeServer } from "./mount.js";

/** For how many turns of the event loop a server polls. A turn without work takes about 2 µs. */
const TURNS = 100;

/** After polling in vain again and again, this many responses are not followed by polling. */
const LONGEST_PAUSE = 63;

/**
 * Lets a server poll for the next request, for about 200 µs after a response, before its process sleeps.
 * To wake a process up takes tens of microseconds, much longer on a virtual machine, and its caches are
 * then cold. A caller on the same machine or network that waits for each response gets the next one
 * sooner. When requests do not come that soon, the server polls only after one of 64 responses.
 *
 * While it polls, the process uses its core, and its event loop does not count as idle. On Bun and Deno,
 * which do not publish Node's diagnostics channels of `node:http`, it has no effect.
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
    if (isOf(server, message)) polling.stop();
  };
  const onResponse = (message: unknown): void => {
    if (isOf(server, message)) polling.start();
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
function isOf(server: NodeServer, message: unknown): boolean {
  return (
    typeof message === "object" &&
    message !== null &&
    "server" in message &&
    message.server === server
  );
}

/** Keeps the event loop turning, so that it does not sleep. */
interface Polling {
  /** To be called after a response. */
  start(): void;
  /** To be called when a request has arrived. */
  stop(): void;
}

function createPolling(): Polling {
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
    const wasInVain = turnsLeft === 0;
    if (!wasInVain) return;
    pause = Math.min(2 * pause + 1, LONGEST_PAUSE);
    pauseLeft = pause;
  };

  return {
    start: () => {
      if (pauseLeft > 0) {
        pauseLeft -= 1;
        return;
      }
      turnsLeft = TURNS;
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(poll);
    },
    stop: () => {
      if (turnsLeft <= 0) return;
      turnsLeft = 0;
      pause = 0;
    },
  };
}
