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

/** A line of a file, or the lines of a CSV record, which has line breaks in quotes. The first line is line 1. */
export interface Lines {
  readonly first: number;
  readonly last: number;
  /** Its bytes without the final line feed; cut off if it is longer than `LONGEST`. */
  readonly bytes: Buffer;
}

/** The pet in a line or record. */
export interface Entry extends Lines {
  /** The heading with its line feed; empty if the format has none. */
  readonly heading: Buffer;
  /** The pet, or the reason why it cannot be imported. */
  readonly pet: Result<NewPet, string>;
}

/** The maximum length of a line or record, in bytes. */
export const LONGEST = 1_048_576;

/** Why a line or record cannot be imported that is longer. */
export const TOO_LONG = `It is longer than ${LONGEST / 1_024} KiB.`;

/** Returns the number of lines. */
export function lineCount({ first, last }: Lines): number {
  return last - first + 1;
}

/** Splits a file into lines, without a byte order mark, in groups as they arrive. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Lines[]> {
  let number = 0;
  let unfinished: Buffer = Buffer.alloc(0);
  const toLine = (line: Buffer): Lines => {
    number += 1;
    const isMarked = number === 1 && line.indexOf(MARK) === 0;
    return { first: number, last: number, bytes: isMarked ? line.subarray(MARK.length) : line };
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([unfinished, chunk]);
    const lines: Lines[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      lines.push(toLine(bytes.subarray(start, end)));
      start = end + 1;
    }
    yield lines;
    unfinished = bytes.subarray(start, start + LONGEST + 1);
  }
  if (unfinished.length > 0) yield [toLine(unfinished)];
}

const MARK = Buffer.from("\uFEFF");

/** Whether a line is only white space. */
export function isBlank({ bytes }: Lines): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** The end of a line. */
export const LINE_FEED = Buffer.from("\n");

/** Joins lines, with their line feeds. */
export function joinLines(lines: readonly Lines[]): Buffer {
  return Buffer.concat(lines.flatMap(({ bytes }) => [bytes, LINE_FEED]));
}
