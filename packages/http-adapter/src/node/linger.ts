import type { Socket } from "node:net";

/** A client that sends nothing for this long has no more to send. In milliseconds. */
const SILENCE = 1_000;
/** A client that goes on has to send `LEAST_BYTES` in each window, and for `MOST_WINDOWS` at most. */
const WINDOW = 2_000;
const MOST_WINDOWS = 5;
const LEAST_BYTES = 1_048_576;
/** No client is read for longer than this, however fast it sends. */
const MOST_BYTES = 67_108_864;

/**
 * Closes a connection after its last response: for writing at once, and wholly when the client
 * closes its side, falls silent, or has sent enough. Until then its bytes are discarded unparsed: a
 * socket that is closed while bytes arrive is reset, which may cost the client the response (RFC
 * 9112, section 9.6).
 */
export function linger(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  let total = 0;
  let inWindow = 0;
  let silence: NodeJS.Timeout | undefined;

  const discard = (chunk: Uint8Array): void => {
    total += chunk.length;
    inWindow += chunk.length;
    silence?.refresh();
    if (total > MOST_BYTES) socket.destroy();
  };
  // Those of Node's parser, which would make requests of what still comes.
  socket.removeAllListeners("data").on("data", discard).resume();
  // The parser may have stopped reading, unknown to the stream.
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
