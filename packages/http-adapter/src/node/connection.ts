import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
// Not the global ones: the fake timers of a host's tests hold nothing back, and end nothing early.
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers";
import type { UnreadableMessage } from "../error.js";
import type { Target } from "../request/route.js";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether Node has left the `Expect` header to us: nothing is sent yet (RFC 9110, section 10.1.1). */
  readonly hasOpenExpect?: boolean | undefined;
  readonly clientAddress: () => string | undefined;
  /** `undefined` if the request is not below the base path. */
  readonly target: Target | undefined;
}

interface Connection {
  /** Whether a message of it is known to be HTTP. */
  isHttp: boolean;
  /** The request that arrived last, until it is over. Only its body may still be incomplete. */
  newest?: Exchange | undefined;
  /** The error that ends the input, once it is known. */
  inputError?: UnreadableMessage;
  /** Called with `inputError`; set by the request in progress. */
  onInputError?: ((error: UnreadableMessage) => void) | undefined;
}

const CONNECTION = Symbol("petstore: connection");

/** At so many waiting requests, a connection is held. */
const MOST_WAITING = 100;

/** Returns the connection of a socket: the same for every handler, mount and server of this package. */
export function connectionOf(
  socket: Socket & { [CONNECTION]?: Connection | undefined },
): Connection {
  return (socket[CONNECTION] ??= { isHttp: false });
}

/** The most requests of all connections that may wait. Each takes kilobytes; one packet has fewer. */
const MOST_IN_ALL = 4_096;

/**
 * Creates the function that runs an exchange once Node assigns the socket to its response: after the earlier responses of
 * the connection, ours and the host's, and if it has waited, in a later turn, so that a client that does not wait holds up
 * no other. If an earlier response closes the connection, it is not run (RFC 9112, section 9.6). If too many requests
 * wait, a client that sends more than one ahead is disconnected.
 */
export function createRunInTurn(run: (exchange: Exchange) => unknown) {
  /** How many wait, for each connection that is open. */
  const waiting = new Map<Socket, number>();
  let total = 0;
  const add = (socket: Socket, count: number): number => {
    const sum = (waiting.get(socket) ?? 0) + count;
    waiting.set(socket, sum);
    total += count;
    return sum;
  };
  const forget = (socket: Socket): void => {
    total -= waiting.get(socket) ?? 0;
    waiting.delete(socket);
  };
  function wait(exchange: Exchange): void {
    const { socket } = exchange.request;
    if (!waiting.has(socket)) socket.once("close", () => forget(socket));
    if (add(socket, 1) >= MOST_WAITING) hold(socket);
    exchange.response.once("socket", () => {
      if (waiting.has(socket) && add(socket, -1) < MOST_WAITING / 2) release(socket);
      setImmediate(() => !isOver(socket) && run(exchange));
    });
  }

  return (exchange: Exchange): void => {
    const { socket } = exchange.request;
    if (isOver(socket)) return;
    if (exchange.response.socket !== null) run(exchange);
    else if (total >= MOST_IN_ALL && (waiting.get(socket) ?? 0) > 0) cut(socket);
    else wait(exchange);
  };
}

/** Whether a socket is paused, because many requests wait for their turn. */
const isHeld = (socket: Socket): boolean => socket.listeners("resume").includes(pause);

function hold(socket: Socket): void {
  // Node may resume the socket by itself.
  if (!isHeld(socket)) socket.on("resume", pause).pause();
}

/** What Node's parser returns for an upgrade: no message follows. */
const NO_MORE = 2;

/** Disconnects a client. By `onIncoming`, which is not documented, Node stops parsing the packet that it has read. */
function cut(socket: Socket & { readonly parser?: { onIncoming?: unknown } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => NO_MORE;
  socket.destroy();
}

function release(socket: Socket): void {
  if (isHeld(socket)) socket.off("resume", pause).resume();
}

function pause(this: Socket): void {
  this.pause();
}

/** Returns the error that keeps a request from arriving completely, if there is one. */
export function inputErrorOf({ socket, complete }: IncomingMessage): UnreadableMessage | undefined {
  return complete ? undefined : connectionOf(socket).inputError;
}

const isOver = (socket: Socket): boolean => socket.destroyed || socket.writableEnded;

/** A client that sends nothing for this long is treated as finished. In milliseconds. */
const SILENCE = 1_000;
/** The client must send at least `LEAST_BYTES` in each window of this length, and may for `MOST_WINDOWS`. */
const WINDOW = 2_000;
const LEAST_BYTES = 1_048_576;
const MOST_WINDOWS = 5;
const MOST_BYTES = 67_108_864;

/**
 * Closes a connection after its last response, as nginx does with `lingering_close`: bytes that still arrive are
 * discarded unparsed until the client closes its side, stops sending, or reaches a limit. Otherwise the socket would be
 * reset, and the client might lose the response (RFC 9112, section 9.6).
 */
export function closeWithoutReset(socket: Socket): void {
  if (isOver(socket)) return;
  release(socket);
  let total = 0;
  let inWindow = 0;
  let silence: NodeJS.Timeout | undefined;

  const discard = (chunk: Uint8Array): void => {
    total += chunk.length;
    inWindow += chunk.length;
    silence?.refresh();
    if (total > MOST_BYTES) socket.destroy();
  };
  // Removes the listeners of Node's parser, which would parse further bytes as requests.
  socket.removeAllListeners("data").on("data", discard).resume();
  // The parser may have stopped reading without the stream knowing: this makes the stream read again.
  socket.push("");

  socket.once("finish", () => {
    if (socket.destroyed) return;
    let windows = 0;
    const stop = (): void => void socket.destroy();
    const pace = setInterval(() => {
      windows += 1;
      if (inWindow < LEAST_BYTES || windows === MOST_WINDOWS) stop();
      inWindow = 0;
    }, WINDOW);
    silence = setTimeout(stop, SILENCE);
    socket.once("close", () => {
      clearInterval(pace);
      clearTimeout(silence);
    });
  });
  socket.end();
}
