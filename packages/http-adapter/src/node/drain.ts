import type { IncomingMessage } from "node:http";
import { LINGERING } from "./linger.js";

/**
 * Reads away what still comes of a request's body and forgets it: until it ends, the client falls
 * silent or goes away, or it has been enough. Then calls `done`, once.
 */
export function drain(request: IncomingMessage, done: () => void): void {
  let length = 0;
  const idle = setTimeout(finish, LINGERING.idle);
  const deadline = setTimeout(finish, LINGERING.longest);

  function take(chunk: Uint8Array): void {
    length += chunk.length;
    if (length > LINGERING.bytes) finish();
    else idle.refresh();
  }
  function finish(): void {
    clearTimeout(idle);
    clearTimeout(deadline);
    request.off("data", take).off("end", finish).off("close", finish);
    done();
  }
  request.on("data", take).on("end", finish).on("close", finish).resume();
  // The client has closed its side: nothing more can come.
  if (request.socket.readableEnded) finish();
}
