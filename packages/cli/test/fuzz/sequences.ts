import { connect } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { KEY, message, NAME, type Message } from "./messages.js";

/** The messages that are sent over one connection, and how it ends. */
export interface Sequence {
  readonly messages: readonly Message[];
  /** Where the bytes are cut into segments, and where the client stops: fractions of their length. */
  readonly cuts: readonly number[];
  readonly stop: number;
  /** How long to wait between two segments, in milliseconds: 0 is a turn of the event loop. */
  readonly pause: number;
  readonly ending: Ending;
  readonly reads: boolean;
}

export interface Ending {
  /** Closes its side and waits for the server; resets the connection; or stays silent, then disconnects. */
  readonly kind: "fin" | "reset" | "silence";
  /** When: this many milliseconds after the last segment, or at the first bytes of a response. */
  readonly after: number | "first bytes";
}

const ending: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "fin", after: 0 }) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0, 0, 1, 2, 5, "first bytes" as const)
      .map((after): Ending => ({ kind: "reset", after })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(5, 20, 60).map((after): Ending => ({ kind: "silence", after })),
  },
);

const fraction = fc.nat({ max: 1_000 }).map((thousandths) => thousandths / 1_000);

/** Sequences of one to eight messages. */
export const sequence: fc.Arbitrary<Sequence> = fc.record({
  messages: fc.oneof(
    fc.array(message, { minLength: 1, maxLength: 2, size: "max" }),
    fc.array(message, { minLength: 1, maxLength: 8, size: "max" }),
  ),
  cuts: fc.oneof(fc.constant([]), fc.array(fraction, { maxLength: 4 })),
  stop: fc.option(fraction, { nil: 1, freq: 2 }),
  pause: fc.constantFrom(0, 0, 1, 4),
  ending,
  reads: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
});

/** A sequence as it is sent once. */
export interface Sending {
  readonly sequence: Sequence;
  /** One UTF-16 unit a byte. */
  readonly segments: readonly string[];
  /** The name of the pet of each message, whether it has one or not. */
  readonly names: readonly string[];
  /** How many messages are sent to their end. */
  readonly complete: number;
}

/** Fills in the key and a different name for each pet. */
export function toSending(sequence: Sequence, number: number, key: string): Sending {
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
  const complete = parts.filter((part) => (end += part.length) <= stop).length;
  return { sequence, segments: segments.filter((segment) => segment !== ""), names, complete };
}

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
    case "fin":
      socket.end();
      await Promise.race([closed, setTimeout(closeTimeout, undefined, { ref: false })]);
      hangs = !socket.closed;
      socket.destroy();
      break;
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
