import type { Socket } from "node:net";

/** For how long a client may be silent, and for how long and how much it may send on. */
export const LINGERING = { idle: 1_000, longest: 5_000, bytes: 67_108_864 } as const;

/**
 * Ends a connection on which all is said: closes it for writing at once, and wholly when the client
 * does, falls silent or has sent on for long enough. A socket that is closed while bytes arrive is
 * reset, and may cost the client the last answer (RFC 9112, section 9.6).
 */
export function linger(socket: Socket): void {
  // It has emitted "close", or is about to: nothing would end the timers.
  if (socket.destroyed) return;
  const most = socket.bytesRead + LINGERING.bytes;
  let seen = socket.bytesRead;
  const look = setInterval(() => {
    const isSilent = socket.writableFinished && socket.bytesRead === seen;
    if (isSilent || socket.bytesRead > most) socket.destroy();
    seen = socket.bytesRead;
  }, LINGERING.idle);
  const deadline = setTimeout(() => socket.destroy(), LINGERING.longest);
  socket.once("close", () => {
    clearInterval(look);
    clearTimeout(deadline);
  });
  socket.end();
  // What still comes is read away, whoever held it back.
  socket.resume();
}
