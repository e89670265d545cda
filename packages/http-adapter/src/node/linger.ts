import type { Socket } from "node:net";

const IDLE_MILLISECONDS = 250;
const MAX_MILLISECONDS = 2_000;

/**
 * Ends a connection on which all is said: closes it for writing at once, and wholly when the client
 * does, falls silent or has sent on for long enough. A socket that is closed while bytes arrive is
 * reset, and may cost the client the last answer (RFC 9112, section 9.6).
 */
export function linger(socket: Socket): void {
  let seen = socket.bytesRead;
  const look = setInterval(() => {
    if (socket.writableFinished && socket.bytesRead === seen) socket.destroy();
    seen = socket.bytesRead;
  }, IDLE_MILLISECONDS);
  const deadline = setTimeout(() => socket.destroy(), MAX_MILLISECONDS);
  socket.once("close", () => {
    clearInterval(look);
    clearTimeout(deadline);
  });
  socket.end();
  // What still comes is read away, whoever held it back.
  socket.resume();
}
