import type { Socket } from "node:net";

/** The connections on which some mount or handler has written the last answer. */
const closed = new WeakSet<Socket>();

/** Notes that an answer with `Connection: close` was written. */
export function noteLastAnswer(socket: Socket): void {
  closed.add(socket);
}

/** Whether what comes on a connection is no request any more (RFC 9112, section 9.6). */
export function hasLastAnswer(socket: Socket): boolean {
  return closed.has(socket);
}
