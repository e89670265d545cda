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
  { weight: 4, arbitrary: fc.constant({ kind: "fin", after: 0 } as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("reset" as const),
      after: fc.constantFrom(0, 0, 1, 2, 5, "first bytes" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("silence" as const),
      after: fc.constantFrom(5, 20, 60),
    }),
  },
);

const fraction = fc.nat({ max: 1_000 }).map((thousandths) => thousandths / 1_000);

/** Sequences of one to eight messages. */
export const sequence: fc.Arbitrary<Sequence> = fc.record({
  messages: fc.oneof(
    fc.array(message, { minLength: 1, maxLength: 2, size: "max" }),
    fc.array(message, { minLength: 1, maxLength: 8, size: "max" }),
  ),
  cuts: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(fraction, { minLength: 1, maxLength: 4 }) },
  ),
  stop: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fraction }),
  pause: fc.constantFrom(0, 0, 1, 4),
  ending,
  reads: fc.oneof(
    { weight: 9, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
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
