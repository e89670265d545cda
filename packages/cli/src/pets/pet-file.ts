import type { Result } from "neverthrow";

/** The formats of a file of pets. */
export const FORMATS = ["ndjson", "csv"] as const;

/** The format of a file of pets. */
export type Format = (typeof FORMATS)[number];

/** Returns the given format, or the format that the name of the file implies. */
export function formatOf(chosen: Format | undefined, path: string): Format {
  return chosen ?? (/\.csv$/i.test(path) ? "csv" : "ndjson");
}

/** A line of a file, or a CSV record of several lines, which has line breaks in quotes. */
export interface Entry {
  /** The number of its first line; the first line of a file is 1. */
  readonly first: number;
  /** The number of its last line. */
  readonly last: number;
  /** Its bytes without the final line feed; cut off if there are more than `LONGEST_ENTRY`. */
  readonly bytes: Buffer;
  /** The pet in it, not yet validated, or the reason why it cannot be read. */
  readonly pet: Result<unknown, string>;
}

/** Entries that were read together. Blank lines are left out. */
export interface EntryGroup {
  readonly entries: readonly Entry[];
  /** The bytes of the heading, if the format has one. */
  readonly heading: Buffer | undefined;
}

/** Reads the entries of a file. An `Err` is the last element: the file is not in this format. */
export type EntryReader = (
  chunks: AsyncIterable<Buffer>,
) => AsyncIterable<Result<EntryGroup, string>>;

/** The maximum length of an entry, in bytes. */
export const LONGEST_ENTRY = 1_048_576;

/** Why an entry is rejected that is longer than `LONGEST_ENTRY`. */
export const TOO_LONG = `It is longer than ${LONGEST_ENTRY / 1_024} KiB.`;

/** The end of a line. */
export const LINE_FEED = Buffer.from("\n");

/** A line without its line feed. One byte more than `LONGEST_ENTRY` is kept of a longer line. */
export interface Line {
  readonly number: number;
  readonly bytes: Buffer;
}

/** Splits chunks into lines. Leaves out a byte order mark. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Line[]> {
  let unfinished = Buffer.alloc(0);
  let number = 1;
  const cut = (bytes: Buffer, start: number, end?: number): Buffer => {
    const line = bytes.subarray(start, end).subarray(0, LONGEST_ENTRY + 1);
    return number === 1 && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([unfinished, chunk]);
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push({ number, bytes: cut(bytes, start, end) });
      number += 1;
      start = end + 1;
    }
    unfinished = Buffer.from(cut(bytes, start));
    yield lines;
  }
  if (unfinished.length > 0) yield [{ number, bytes: unfinished }];
}

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/** Whether a line is only white space. */
export function isBlank({ bytes }: Line): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
