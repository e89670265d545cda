import { isUtf8 } from "node:buffer";
import { parseInt64 } from "@petstore/core";
import { CsvError, parse, type InfoRecord } from "csv-parse/sync";
import { err, ok, type Result } from "neverthrow";
import {
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  TOO_LONG,
  type Entry,
  type EntryReader,
} from "./entries.js";
import { counted } from "./progress.js";

/** Creates a reader of comma-separated values (RFC 4180) with a heading, whose columns may be in any order. */
export function createCsvReader(): EntryReader {
  let heading: Buffer | undefined;
  let columns: readonly string[] = [];
  let line = 1;
  // The lines of a record whose end has not been read.
  let open: Buffer = Buffer.alloc(0);

  return (lines, isEnd) => {
    const entries: Entry[] = [];
    const { records, rest } = splitRecords(Buffer.concat([open, lines]), isEnd);
    open = rest;
    for (const { bytes: taken, fields: parsed } of records) {
      let bytes = taken;
      for (
        let end = lengthOfLines(bytes, 1);
        end > 0 && isBlank(bytes.subarray(0, end));
        line += 1
      ) {
        bytes = bytes.subarray(end);
        end = lengthOfLines(bytes, 1);
      }
      if (bytes.length === 0) continue;
      if (bytes.at(-1) === LINE_FEED) bytes = bytes.subarray(0, -1);
      const [first, last] = [line, line + lineFeedsIn(bytes)];
      line = last + 1;
      const fields = checkBytes(bytes).andThen(() => parsed);
      if (heading === undefined) {
        const names = checkHeading(fields, bytes);
        if (names.isErr()) return { entries, problem: names.error };
        heading = bytes;
        columns = names.value;
      } else {
        const pet = fields.andThen((values) => toPet(columns, values));
        entries.push({ first, last, bytes, pet });
      }
    }
    if (isEnd && heading === undefined) return { entries, problem: "There is no heading." };
    return { entries, heading };
  };
}

type Fields = Result<readonly string[], string>;

/** A record with its line feed, and with the blank lines before it. */
interface CsvRecord {
  readonly bytes: Buffer;
  readonly fields: Fields;
}

/**
 * Splits lines into records. After one that csv-parse refuses, parsing starts again: the parser's own option
 * to skip such records does not tell where they end, and takes quadratic time for a line of quotes.
 */
function splitRecords(
  lines: Buffer,
  isEnd: boolean,
): { readonly records: readonly CsvRecord[]; readonly rest: Buffer } {
  const records: CsvRecord[] = [];
  let rest = lines;
  const take = (length: number, fields: Fields): void => {
    records.push({ bytes: rest.subarray(0, length), fields });
    rest = rest.subarray(length);
  };
  while (rest.length > 0) {
    let taken = 0;
    const problem = parseRecords(rest, (fields, { bytes: end }) => {
      take(end - taken, ok(fields));
      taken = end;
    });
    const isOpen = problem?.code === "CSV_QUOTE_NOT_CLOSED";
    if (isOpen && !isEnd && rest.length <= LONGEST_ENTRY) break;
    if (problem === undefined) take(rest.length, ok([]));
    else take(...refuse(rest, isOpen));
  }
  return { records, rest };
}

/** Passes each record, and the position of its end, to `onRecord`. Returns why it stopped early. */
function parseRecords(
  lines: Buffer,
  onRecord: (fields: readonly string[], info: InfoRecord) => void,
  raw = false,
): CsvError | undefined {
  try {
    parse(lines, {
      recordDelimiter: ["\r\n", "\n"],
      relaxColumnCount: true,
      skipEmptyLines: true,
      raw,
      onRecord: (fields: readonly string[], info) => {
        onRecord(fields, info);
        return null;
      },
    });
    return undefined;
  } catch (error) {
    if (error instanceof CsvError) return error;
    throw error;
  }
}

/** Refuses the lines up to the wrong quote or, after an open one, as many as an entry may have. */
function refuse(lines: Buffer, isOpen: boolean): [length: number, fields: Fields] {
  if (!isOpen) {
    // Slow, but it tells where the wrong quote is.
    const problem = parseRecords(lines, () => undefined, true);
    const length = lengthOfLines(lines, String(problem?.["raw"]).split("\n").length);
    if (length <= LONGEST_ENTRY) return [length, err("A quote is out of place.")];
  }
  const isShort = lines.length <= LONGEST_ENTRY;
  const length = isShort ? lines.length : lines.lastIndexOf(LINE_FEED, LONGEST_ENTRY) + 1;
  return [length || lengthOfLines(lines, 1), err("A quote is not closed.")];
}

/** Returns the length of the first lines with their line feeds. */
function lengthOfLines(bytes: Buffer, count: number): number {
  let end = 0;
  for (let line = 0; line < count && end < bytes.length; line += 1) {
    end = bytes.indexOf(LINE_FEED, end) + 1 || bytes.length;
  }
  return end;
}

/** Returns the number of line feeds. */
function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1))
    count += 1;
  return count;
}

function checkBytes(bytes: Buffer): Result<void, string> {
  if (bytes.length > LONGEST_ENTRY) return err(TOO_LONG);
  return isUtf8(bytes) ? ok() : err("It is not UTF-8.");
}

const COLUMNS = ["name", "categoryId", "status"] as const;
/** Separators that other programs use instead of commas. */
const SEPARATORS = [
  [";", "semicolons"],
  ["\t", "tabs"],
  ["|", "vertical bars"],
] as const;

/** Returns the names of the columns. */
function checkHeading(fields: Fields, bytes: Buffer): Fields {
  const other = SEPARATORS.find(([separator]) => {
    const names = bytes.toString("utf8").split(separator);
    return missingColumns(names.map((name) => name.replace(/^"|"?\r?$/g, ""))).length === 0;
  });
  if (other !== undefined) return err(`The heading is separated by ${other[1]} instead of commas.`);
  if (fields.isErr()) return fields;
  const names = fields.value;
  const missing = missingColumns(names);
  if (missing.length > 0) return err(`The heading has no column ${missing.join(", ")}.`);
  const repeated = COLUMNS.filter((each) => names.indexOf(each) !== names.lastIndexOf(each));
  if (repeated.length > 0) return err(`The heading repeats the column ${repeated.join(", ")}.`);
  return fields;
}

function missingColumns(names: readonly string[]): readonly string[] {
  return ["name", "categoryId"].filter((column) => !names.includes(column));
}

function toPet(names: readonly string[], values: readonly string[]): Result<unknown, string> {
  if (values.length !== names.length) {
    return err(`It has ${counted(values.length, "field")} instead of ${names.length}.`);
  }
  const field = (column: string): string => values[names.indexOf(column)] ?? "";
  const categoryId = parseInt64(field("categoryId"));
  return ok({ name: field("name"), categoryId, status: field("status") || undefined });
}
