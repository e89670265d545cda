import { connect } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { KEY, message, NAME } from "./messages.js";

const fraction = fc.nat({ max: 1_000 }).map((thousandths) => thousandths / 1_000);
type Ending = "fin" | "reset" | "silence";

const ending = (weight: number, kind: Ending, ...after: (number | "first bytes")[]) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), after: fc.constantFrom(...after) }),
});

export const sequence = fc.record({
  messages: fc.oneof(
    fc.array(message, { minLength: 1, maxLength: 2, size: "max" }),
    fc.array(message, { minLength: 1, maxLength: 8, size: "max" }),
  ),
  /** Where the bytes are cut into segments, and where the client stops: fractions of their length. */
  cuts: fc.oneof(fc.constant<number[]>([]), fc.array(fraction, { maxLength: 4 })),
  stop: fc.option(fraction, { nil: 1, freq: 2 }),
  /** How long to wait between two segments, in milliseconds: 0 is a turn of the event loop. */
  pause: fc.constantFrom(0, 0, 1, 4),
  /**
   * The client closes its side and waits for the server, resets the connection, or stays silent and disconnects:
   * this many milliseconds after the last segment, or at the first bytes of a response.
   */
  ending: fc.oneof(
    ending(4, "fin", 0),
    ending(5, "reset", 0, 0, 1, 2, 5, "first bytes"),
    ending(2, "silence", 5, 20, 60),
  ),
  reads: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
});

export type Sequence = typeof sequence extends fc.Arbitrary<infer Generated> ? Generated : never;
const HOST = "127.0.0.1";
export type Sent = Awaited<ReturnType<typeof send>>;

/**
 * How long to wait until the server closes a connection that its client has closed, and until sockets and timers are
 * gone and the processor is idle, in milliseconds. No timeout of the server is longer.
 */
export const TIMEOUT = 15_000;

/** Sends a sequence over one connection, with a name for each pet. Resolves when the connection is gone. */
export async function send(port: number, sequence: Sequence, key: string, number: number) {
  const { ending, pause } = sequence;
  /** The name of the pet of each message, whether it has one or not. */
  const names = sequence.messages.map((_, index) =>
    `f${index}-${number.toString(36)}`.padEnd(NAME.length, "_"),
  );
  const parts = sequence.messages.map(({ bytes }, index) =>
    bytes.replaceAll(NAME, names[index] ?? "").replaceAll(KEY, key),
  );
  const bytes = parts.join("");
  const stop = Math.floor(sequence.stop * bytes.length);
  const bounds = sequence.cuts.map((cut) => Math.floor(cut * stop)).sort((a, b) => a - b);
  const segments = [0, ...bounds].map((from, index) => bytes.slice(from, bounds[index] ?? stop));
  let end = 0;
  /** How many messages were to be sent to their end. */
  const complete = parts.filter((part) => (end += part.length) <= stop).length;

  /** One UTF-16 unit a byte. */
  let received = "";
  /** Whether the client closed its side but the server never closed its own. */
  let hangs = false;
  // Callers without a valid key have few requests a minute from one address. Only Linux has others.
  const from = process.platform === "linux" ? `127.0.${number % 8}.${1 + (number % 250)}` : HOST;
  const socket = connect({ port, host: HOST, localAddress: from, allowHalfOpen: true });
  const [connected, firstBytes, closed] = ["connect", "data", "close"].map(
    (event) => new Promise((resolve) => socket.once(event, resolve)),
  );
  socket.setNoDelay(true).setEncoding("latin1");
  socket.on("data", (text: string) => (received += text));
  // A reset is the server's right, once it has written its last response.
  socket.on("error", () => undefined);
  if (!sequence.reads && ending.kind !== "fin" && ending.after !== "first bytes") socket.pause();

  await Promise.race([connected, closed]);
  for (const [index, segment] of segments.filter((each) => each !== "").entries()) {
    if (index > 0) await (pause === 0 ? setImmediate() : setTimeout(pause));
    if (socket.destroyed) break;
    socket.write(segment, "latin1");
  }
  if (ending.after === "first bytes") await Promise.race([firstBytes, closed, setTimeout(100)]);
  else if (ending.after > 0) await Promise.race([closed, setTimeout(ending.after)]);
  if (ending.kind === "fin") {
    socket.end();
    await Promise.race([closed, setTimeout(TIMEOUT, undefined, { ref: false })]);
    hangs = !socket.closed;
  }
  if (ending.kind === "reset") socket.resetAndDestroy();
  else socket.destroy();
  await closed;
  /** Whether the server closed the connection in good order, so that all it wrote has arrived. */
  const isWhole = socket.readableEnded && socket.errored === null;
  return { sequence, names, complete, received, isWhole, hangs };
}
