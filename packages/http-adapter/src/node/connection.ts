import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { UnreadableMessage } from "../refusal.js";

/** A step on a connection. It never rejects. */
type Task = () => Promise<void> | void;

/**
 * One connection. Its requests are handled one after another: the response to one may close the
 * connection, and what follows it is then no request (RFC 9112, section 9.6).
 */
export interface Connection {
  /** Runs a task after the ones before it; never, once the last response is written. */
  enqueue(task: Task): void;
  /** The newest request on it. */
  newest: IncomingMessage | undefined;
  /** Whether what still arrives is ignored: it cannot be read, or follows the last response. */
  isInputOver: boolean;
  /** Whether the last response is written. */
  isClosing: boolean;
  /** Why the newest request will not arrive completely, once that is known. */
  interruption: UnreadableMessage | undefined;
  /** Called when `interruption` is set, by the request whose turn it is: maybe not the newest. */
  onInterruption: ((reason: UnreadableMessage) => void) | undefined;
}

const CONNECTION = Symbol("petstore: connection");

/** Beyond this many waiting requests, no more are read from the socket. */
const MOST_WAITING = 100;

/** The connection of a socket: the same one for every handler, mount and server of this package. */
export function connectionOf(
  socket: Socket & { [CONNECTION]?: Connection | undefined },
): Connection {
  return (socket[CONNECTION] ??= createConnection(socket));
}

function createConnection(socket: Socket): Connection {
  const waiting: Task[] = [];
  let isBusy = false;
  let isHeld = false;
  const isOver = (): boolean => connection.isClosing || socket.destroyed || socket.writableEnded;
  // Node resumes a socket whenever it likes.
  const pause = (): void => void socket.pause();

  async function run(first: Task): Promise<void> {
    isBusy = true;
    let task: Task | undefined = first;
    while (task !== undefined && !isOver()) {
      await task();
      task = waiting.shift();
      if (isHeld && waiting.length < MOST_WAITING / 2) {
        isHeld = false;
        socket.off("resume", pause).resume();
      }
    }
    isBusy = false;
  }

  const connection: Connection = {
    enqueue: (task) => {
      if (isOver()) return;
      if (!isBusy) {
        void run(task);
        return;
      }
      waiting.push(task);
      if (isHeld || waiting.length < MOST_WAITING) return;
      isHeld = true;
      socket.on("resume", pause).pause();
    },
    newest: undefined,
    isInputOver: false,
    isClosing: false,
    interruption: undefined,
    onInterruption: undefined,
  };
  return connection;
}
