import { decodeJson } from "@petstore/http-adapter";
import { err, type Result } from "neverthrow";

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
  readonly heading?: Buffer | undefined;
  /** Why the file is not in this format. The import ends there. */
  readonly problem?: string;
}

/** Reads the next whole lines of a file. */
export type EntryReader = (lines: Buffer, isEnd: boolean) => EntryGroup;

/** The maximum length of an entry, in bytes. */
export const LONGEST_ENTRY = 1_048_576;

/** Why an entry is rejected that is longer than `LONGEST_ENTRY`. */
export const TOO_LONG = `It is longer than ${LONGEST_ENTRY / 1_024} KiB.`;

/** The byte that ends a line. */
export const LINE_FEED = 0x0a;

/** Returns the number of lines of an entry. */
export function lineCount({ first, last }: Entry): number {
  return last - first + 1;
}

/** Whether a line is only white space, with or without its line feed. */
export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a);
}

/** Creates a reader of one JSON object per line. */
export function createNdjsonReader(): EntryReader {
  let line = 0;
  let isBeginning = true;
  return (lines) => {
    const entries: Entry[] = [];
    for (let start = 0; start < lines.length;) {
      const found = lines.indexOf(LINE_FEED, start);
      const end = found < 0 ? lines.length : found;
      const bytes = lines.subarray(start, end);
      start = end + 1;
      line += 1;
      if (isBlank(bytes)) continue;
      if (isBeginning && bytes.toString("latin1").trimStart().startsWith("[")) {
        return { entries, problem: JSON_ARRAY };
      }
      isBeginning = false;
      entries.push({ first: line, last: line, bytes, pet: parseLine(bytes) });
    }
    return { entries };
  };
}

const JSON_ARRAY =
  "The file is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact).";

function parseLine(bytes: Buffer): Result<unknown, string> {
  if (bytes.length > LONGEST_ENTRY) return err(TOO_LONG);
  return decodeJson(bytes).mapErr(() => "It is not JSON in UTF-8.");
}
