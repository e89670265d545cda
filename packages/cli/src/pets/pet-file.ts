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
  /** Its bytes without the final line feed; absent if there are more than `LONGEST_ENTRY`. */
  readonly bytes: Buffer | undefined;
  /** The pet in it, not yet validated, or the reason why it cannot be read. */
  readonly pet: Result<unknown, string>;
}

/** Entries that were read together. Blank lines are left out. */
export interface EntryGroup {
  readonly entries: readonly Entry[];
  /** The bytes of the heading, if the format has one. */
  readonly heading: Buffer | undefined;
}

/** Reads the entries of a file. An `Err` is the last element: the heading is wrong. */
export type EntryReader = (
  chunks: AsyncIterable<Buffer>,
) => AsyncIterable<Result<EntryGroup, string>>;

/** The maximum length of an entry, in bytes. */
export const LONGEST_ENTRY = 1_048_576;

/** Why an entry is rejected that is longer than `LONGEST_ENTRY`. */
export const TOO_LONG = `It is longer than ${LONGEST_ENTRY / 1_024} KiB.`;

/** The byte that ends a line. */
export const LINE_FEED = 0x0a;

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/** Returns the length of the byte order mark at the beginning of these bytes, or 0. */
export function markLength(bytes: Buffer): number {
  const { length } = BYTE_ORDER_MARK;
  return bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? length : 0;
}

const WHITE_SPACE = new Set(Buffer.from(" \t\r\n"));

/** Whether these bytes are only white space. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => WHITE_SPACE.has(byte));
}

/** Returns the number of lines in these entries. */
export function countLines(entries: readonly Entry[]): number {
  return entries.reduce((lines, { first, last }) => lines + last - first + 1, 0);
}

/** Formats a count for the operator: `1 pet`, `1,000 pets`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
