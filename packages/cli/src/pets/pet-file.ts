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

/** Returns the number of lines of these entries. */
export function countLines(entries: readonly Pick<Entry, "first" | "last">[]): number {
  return entries.reduce((lines, { first, last }) => lines + last - first + 1, 0);
}

/** The maximum length of an entry, in bytes. */
export const LONGEST_ENTRY = 1_048_576;

/** Why an entry is rejected that is longer than `LONGEST_ENTRY`. */
export const TOO_LONG = `It is longer than ${LONGEST_ENTRY / 1_024} KiB.`;

/** The end of a line. */
export const LINE_FEED = Buffer.from("\n");

/**
 * Joins chunks to blocks of whole lines. Leaves out a byte order mark. Of a line that is longer than
 * `LONGEST_ENTRY`, some bytes may be missing.
 */
export async function* readBlocks(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let unfinished = Buffer.alloc(0);
  let isBeginning = true;
  const toBlock = (bytes: Buffer): Buffer => {
    const isMarked = isBeginning && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
    isBeginning = false;
    return isMarked ? bytes.subarray(3) : bytes;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([unfinished, chunk]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) yield toBlock(bytes.subarray(0, end));
    unfinished = Buffer.from(bytes.subarray(end, end + LONGEST_ENTRY + 1));
  }
  if (unfinished.length > 0) yield toBlock(unfinished);
}

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/** Whether a line is only white space, with or without its line feed. */
export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a);
}
