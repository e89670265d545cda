import type { Writable } from "node:stream";
import type { Logger } from "pino";

/** How much of a log may wait for its reader, in bytes. */
const MOST_WAITING = 16_777_216;

/**
 * A logger whose lines go to this stream. Those that it cannot write, or whose reader is too far behind,
 * are lost: no request waits for its line.
 */
export async function createLogger(stream: Writable): Promise<Logger> {
  // Loaded only where a log is wanted: every start would wait for it.
  const { pino } = await import("pino");
  const write = (line: string): void => {
    if (stream.writableLength < MOST_WAITING) stream.write(line);
  };
  return pino({ base: null }, { write });
}
