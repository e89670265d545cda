import type { NewPet } from "@petstore/core";
import type { Result } from "neverthrow";

/** The formats of a file of pets. */
export const FORMATS = ["ndjson", "csv"] as const;

/** The format of a file of pets. */
export type Format = (typeof FORMATS)[number];

/** Returns the given format, or the format that the name of the file implies. */
export function formatOf(chosen: Format | undefined, path: string): Format {
  return chosen ?? (/\.csv$/i.test(path) ? "csv" : "ndjson");
}

/** A line of a file, or the lines of a CSV record, which has line breaks in quotes. */
export interface Entry {
  /** The number of its first line; the first line of a file is 1. */
  readonly first: number;
  /** The number of its last line. */
  readonly last: number;
  /** Its bytes without the final line feed; cut off if they are more than `LONGEST`. */
  readonly bytes: Buffer;
  /** The heading with its line feed; empty if the format has none. */
  readonly heading: Buffer;
  /** The pet, or the reason why it cannot be imported. */
  readonly pet: Result<NewPet, string>;
}

/** The maximum length of a line or record, in bytes. */
export const LONGEST = 1_048_576;

/** Why a line or record cannot be imported that is longer. */
export const TOO_LONG = `It is longer than ${LONGEST / 1_024} KiB.`;

/** The end of a line. */
export const LINE_FEED = Buffer.from("\n");

/** Returns the number of lines of an entry. */
export function lineCount({ first, last }: Entry): number {
  return last - first + 1;
}

const MARK = Buffer.from("\uFEFF");

/** Returns the chunks of a file without a byte order mark. */
export async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start !== undefined) start = Buffer.concat([start, chunk]);
    if (start === undefined) yield chunk;
    else if (start.length >= MARK.length) {
      yield start.indexOf(MARK) === 0 ? start.subarray(MARK.length) : start;
      start = undefined;
    }
  }
  if (start !== undefined) yield start;
}
