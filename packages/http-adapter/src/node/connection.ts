import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { UnreadableMessage } from "../error.js";

/** A request of Node's and the response to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether Node has left the `Expect` header to us: nothing is sent yet (RFC 9110, section 10.1.1). */
  readonly hasOpenExpect?: boolean | undefined;
  /** Tells callers without a valid key apart. */
  readonly clientAddress: () => string | undefined;
}

/** The state of a connection. */
export interface Connection {
  /** Counts a request that waits for its turn. If too many wait, the socket is paused. */
  countWaiting(response: ServerResponse): void;
  /** Resumes the socket, if it was paused. */
  release(): void;
  /** Whether a message of it is known to be HTTP. */
  isHttp: boolean;
  /** The request that arrived last, until it is over. Only its body may still be incomplete. */
  newest: Exchange | undefined;
  /** The error that ends the input, once it is known. */
  inputError: UnreadableMessage | undefined;
  /** Called with `inputError`; set by the request in progress. */
  onInputError: ((error: UnreadableMessage) => void) | undefined;
}

const CONNECTION = Symbol("petstore: connection");

/** At this many waiting requests, the socket is paused. */
const MOST_WAITING = 100;

/** Returns the connection of a socket: the same for every handler, mount and server of this package. */
export function connectionOf(
  socket: Socket & { [CONNECTION]?: Connection | undefined },
): Connection {
  return (socket[CONNECTION] ??= createConnection(socket));
}

function createConnection(socket: Socket): Connection {
  let waiting = 0;
  let isHeld = false;
  // Node may resume the socket by itself.
  const pause = (): void => void socket.pause();
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    socket.off("resume", pause).resume();
  };
  const countWaiting = (response: ServerResponse): void => {
    waiting += 1;
    response.once("socket", () => {
      waiting -= 1;
      if (waiting < MOST_WAITING / 2) release();
    });
    if (isHeld || waiting < MOST_WAITING) return;
    isHeld = true;
    socket.on("resume", pause).pause();
  };
  return {
    countWaiting,
    release,
    isHttp: false,
    newest: undefined,
    inputError: undefined,
    onInputError: undefined,
  };
}

/** Returns the error that keeps a request from arriving completely, if there is one. */
export function inputErrorOf({ socket, complete }: IncomingMessage): UnreadableMessage | undefined {
  return complete ? undefined : connectionOf(socket).inputError;
}

/**
 * Runs a task once Node assigns the socket to a response: after the responses to the earlier requests
 * of the connection, ours and the host's. A response may close the connection; the bytes after its
 * request are not a request, and their tasks are not run (RFC 9112, section 9.6).
 */
export function runInTurn(exchange: Exchange, task: () => unknown): void {
  const { request, response } = exchange;
  if (response.socket === null) response.once("socket", () => runInTurn(exchange, task));
  else if (!isOver(request.socket)) task();
}

/** Whether a connection is closed, or its last response is sent. */
function isOver(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded;
}

/** A client that sends nothing for this long is treated as finished. In milliseconds. */
const SILENCE = 1_000;
/** A client that keeps sending must send at least `LEAST_BYTES` in each window of this length. */
const WINDOW = 2_000;
const LEAST_BYTES = 1_048_576;
/** A client may keep sending for this many windows and this many bytes. */
const MOST_WINDOWS = 5;
const MOST_BYTES = 67_108_864;

/**
 * Closes a connection after its last response, as nginx does with `lingering_close`. It stops writing
 * immediately, but keeps reading until the client closes its side, stops sending, or reaches a limit; these
 * bytes are discarded unparsed. If a socket were closed while bytes still arrive, it would be reset, and the
 * client might lose the response (RFC 9112, section 9.6).
 */
export function closeWithoutReset(socket: Socket): void {
  if (isOver(socket)) return;
  connectionOf(socket).release();
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
