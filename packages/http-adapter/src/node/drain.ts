import type { IncomingMessage } from "node:http";
import { LINGERING } from "./linger.js";

/**
 * Reads away what still comes of a request's body and forgets it: until it ends, the client falls
 * silent or goes away, or it has been enough. Then calls `done`, once.
 */
export function drain(request: IncomingMessage, done: () => void): void {
  const { socket } = request;
  let length = 0;
  let idle = setTimeout(finish, LINGERING.silent);
  const deadline = setTimeout(finish, LINGERING.longest);

  function take(chunk: Uint8Array): void {
    length += chunk.length;
    clearTimeout(idle);
    if (length > LINGERING.bytes) finish();
    else idle = setTimeout(finish, LINGERING.paused);
  }
  function finish(): void {
    clearTimeout(idle);
    clearTimeout(deadline);
    request.off("data", take).off("end", finish).off("close", finish);
    socket.off("end", finish);
    done();
  }
  request.on("data", take).on("end", finish).on("close", finish).resume();
  // Once the client has closed its side, nothing more can come.
  if (socket.readableEnded) finish();
  else socket.once("end", finish);
}
