import type { Writable } from "node:stream";
import type { Clock } from "@petstore/core";

/** What is logged of a response. */
export type LogLine = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** How much of the log may wait for its reader, in bytes. */
const MAX_BUFFERED = 16_777_216;

/**
 * Writes a line of JSON for each response to a stream. A line is lost when the stream fails or its reader
 * is too slow: no request waits for its line.
 */
export function createRequestLog(stream: Writable, clock: Clock): (line: LogLine) => void {
  return (line) => {
    if (stream.writableLength >= MAX_BUFFERED) return;
    stream.write(`${JSON.stringify({ time: clock.now(), ...line })}\n`);
  };
}
