import { connect } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Sending } from "./sequences.js";

/** The outcome of a sequence. */
export interface Received {
  /** One UTF-16 unit a byte. */
  readonly bytes: string;
  /** Whether the server closed the connection in good order, so that all it wrote has arrived. */
  readonly isWhole: boolean;
  /** Whether the client closed its side but the server never closed its own. */
  readonly hangs: boolean;
}

/**
 * Sends a sequence over a connection of its own; resolves when that is gone. `closeTimeout` is how long the
 * server may take to close it once the client has, in milliseconds.
 */
export async function send(
  port: number,
  sending: Sending,
  origin: string,
  closeTimeout: number,
): Promise<Received> {
  const { segments, sequence } = sending;
  const { ending, pause, reads } = sequence;
  let bytes = "";
  let hangs = false;
  const socket = connect({ port, host: "127.0.0.1", localAddress: origin, allowHalfOpen: true });
  const connected = new Promise((resolve) => socket.once("connect", resolve));
  const firstBytes = new Promise((resolve) => socket.once("data", resolve));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.setNoDelay(true).setEncoding("latin1");
  socket.on("data", (text: string) => (bytes += text));
  // A reset is the server's right, once it has written its last response.
  socket.on("error", () => undefined);
  const isReading = reads || ending.kind === "fin" || ending.after === "first bytes";
  if (!isReading) socket.pause();

  await Promise.race([connected, closed]);
  for (const [index, segment] of segments.entries()) {
    if (index > 0) await (pause === 0 ? setImmediate() : setTimeout(pause));
    if (socket.destroyed) break;
    socket.write(segment, "latin1");
  }
  if (ending.after === "first bytes") await Promise.race([firstBytes, closed, setTimeout(100)]);
  else if (ending.after > 0) await Promise.race([closed, setTimeout(ending.after)]);
  switch (ending.kind) {
    case "fin": {
      socket.end();
      const impatience = globalThis.setTimeout(() => {
        hangs = true;
        socket.destroy();
      }, closeTimeout);
      void closed.then(() => clearTimeout(impatience));
      break;
    }
    case "reset":
      socket.resetAndDestroy();
      break;
    case "silence":
      socket.destroy();
      break;
  }
  await closed;
  return { bytes, isWhole: socket.readableEnded && socket.errored === null, hangs };
}
