import { decodeJson } from "@petstore/http-adapter";
import { err, type Result } from "neverthrow";
import { isBlank, LONGEST_LINE, type Line } from "./source.js";

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
  /** The number of its first line. */
  readonly first: number;
  /** The number of its last line. */
  readonly last: number;
  /** Its bytes without the final line feed; cut off if there are more than `LONGEST_LINE`. */
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

/** Reads entries from the next lines of a file. */
export type EntryReader = (lines: readonly Line[], isEnd: boolean) => EntryGroup;

/** Returns the number of lines of an entry. */
export function lineCount({ first, last }: Entry): number {
  return last - first + 1;
}

/** Why an entry is rejected that is longer than `LONGEST_LINE`. */
export const TOO_LONG = `It is longer than ${LONGEST_LINE / 1_024} KiB.`;

/** Creates a reader of one JSON object per line. */
export function createNdjsonReader(): EntryReader {
  let isBeginning = true;
  return (lines) => {
    const entries: Entry[] = [];
    for (const line of lines) {
      if (isBlank(line)) continue;
      const { number, bytes } = line;
      if (isBeginning && bytes.toString("latin1").trimStart().startsWith("[")) {
        return { entries, problem: JSON_ARRAY };
      }
      isBeginning = false;
      entries.push({ first: number, last: number, bytes, pet: parseLine(bytes) });
    }
    return { entries };
  };
}

const JSON_ARRAY =
  "The file is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact).";

function parseLine(bytes: Buffer): Result<unknown, string> {
  if (bytes.length > LONGEST_LINE) return err(TOO_LONG);
  return decodeJson(bytes).mapErr(() => "It is not JSON in UTF-8.");
}
