import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { UnreadableMessage } from "../error.js";

/** Handles one message of a connection. It never rejects. */
type Task = () => Promise<void> | void;

/** What a server of ours keeps for a connection. */
export interface Connection {
  /**
   * Runs a task after the earlier ones, unless the connection is then closed: a response may close it,
   * and the bytes after that request are not a request (RFC 9112, section 9.6).
   */
  enqueue(task: Task): void;
  /** Reads from the socket again, if it was paused because too many tasks wait. */
  release(): void;
  /** The newest request. */
  newest: IncomingMessage | undefined;
  /** The error in the input, once it is known. It keeps the newest request from arriving completely. */
  inputError: UnreadableMessage | undefined;
  /** The listener for `inputError`, of the request in progress, which may not be the newest. */
  onInputError: ((error: UnreadableMessage) => void) | undefined;
}

const CONNECTION = Symbol("petstore: connection");

/** At this many waiting tasks, the socket is paused. */
const MOST_WAITING = 100;

/** Returns the connection of a socket: the same for every handler, mount and server of this package. */
export function connectionOf(
  socket: Socket & { [CONNECTION]?: Connection | undefined },
): Connection {
  return (socket[CONNECTION] ??= createConnection(socket));
}

function createConnection(socket: Socket): Connection {
  let last: Promise<void> | undefined;
  let waiting = 0;
  let isHeld = false;
  // Node may resume the socket by itself.
  const pause = (): void => void socket.pause();

  async function run(task: Task, previous: Promise<void> | undefined): Promise<void> {
    await previous;
    waiting -= 1;
    if (waiting < MOST_WAITING / 2) connection.release();
    if (!isOver(socket)) await task();
  }

  const connection: Connection = {
    enqueue: (task) => {
      if (isOver(socket)) return;
      waiting += 1;
      last = run(task, last);
      if (isHeld || waiting < MOST_WAITING) return;
      isHeld = true;
      socket.on("resume", pause).pause();
    },
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      socket.off("resume", pause).resume();
    },
    newest: undefined,
    inputError: undefined,
    onInputError: undefined,
  };
  return connection;
}

/** Whether a connection is closed, or its last response is sent. */
export function isOver(socket: Socket): boolean {
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
 * Closes a connection after its last response. It stops writing immediately, but keeps reading until
 * the client closes its side, stops sending, or reaches a limit; these bytes are discarded unparsed. If
 * a socket were closed while bytes still arrive, it would be reset, and the client might lose the
 * response (RFC 9112, section 9.6).
 */
export function linger(socket: Socket): void {
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
  // The parser may have stopped reading without the stream knowing.
  socket._read(0);

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
