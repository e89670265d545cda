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
  /** Its bytes without the final line feed; empty if they were too many to keep. */
  readonly bytes: Buffer;
  /** The pet in it, not yet validated, or the reason why it cannot be read. */
  readonly pet: Result<unknown, string>;
}

/** Entries that were read together. Blank lines are left out. */
export interface EntryGroup {
  readonly entries: readonly Entry[];
  /** The bytes of the heading, if the format has one. */
  readonly heading?: Buffer | undefined;
  /** Why the rest of the file cannot be read. The import ends there. */
  readonly problem?: string;
}

/** Reads the entries of a file, as they arrive. */
export type EntryReader = (chunks: AsyncIterable<Buffer>) => AsyncIterable<EntryGroup>;

/** Returns the number of lines of an entry. */
export function lineCount({ first, last }: Entry): number {
  return last - first + 1;
}

/** The maximum length of an entry, in bytes. */
export const LONGEST_ENTRY = 1_048_576;

/** Why an entry is rejected that is longer than `LONGEST_ENTRY`. */
export const TOO_LONG = `It is longer than ${LONGEST_ENTRY / 1_024} KiB.`;

/** The byte that ends a line. */
export const LINE_FEED = 0x0a;

/** Whether a line is only white space. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
