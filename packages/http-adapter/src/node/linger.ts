import type { Socket } from "node:net";

/**
 * For how many milliseconds a client may be silent (at first, and once it has sent on), and for how long
 * and how many bytes it may send on.
 */
export const LINGERING = { silent: 250, paused: 1_000, longest: 5_000, bytes: 67_108_864 } as const;

/**
 * Ends a connection on which all is said: closes it for writing at once, and wholly when the client
 * does, falls silent or has sent on for long enough. A socket that is closed while bytes arrive is
 * reset, and may cost the client the last answer (RFC 9112, section 9.6).
 */
export function linger(socket: Socket): void {
  // It has emitted "close", or is about to: nothing would end the timers.
  if (socket.destroyed) return;
  const first = socket.bytesRead;
  let seen = first;
  let silentSince = 0;
  let now = 0;
  const look = setInterval(() => {
    now += LINGERING.silent;
    if (socket.bytesRead > seen) silentSince = now;
    seen = socket.bytesRead;
    const isSilent = now - silentSince >= (seen > first ? LINGERING.paused : LINGERING.silent);
    if ((socket.writableFinished && isSilent) || seen - first > LINGERING.bytes) socket.destroy();
  }, LINGERING.silent);
  const deadline = setTimeout(() => socket.destroy(), LINGERING.longest);
  socket.once("close", () => {
    clearInterval(look);
    clearTimeout(deadline);
  });
  socket.end();
  // What still comes is read away, whoever held it back.
  socket.resume();
}
