import { isUtf8 } from "node:buffer";
import { parseInt64 } from "@petstore/core";
import { CsvError, parse } from "csv-parse/sync";
import { err, ok, type Result } from "neverthrow";
import { counted } from "../terminal.js";
import { TOO_LONG, type Entry, type EntryReader } from "./entries.js";
import { isBlank, LINE_FEED, LONGEST_LINE, type Line } from "./source.js";

/** Creates a reader of comma-separated values (RFC 4180) with a heading, whose columns may be in any order. */
export function createCsvReader(): EntryReader {
  const split = createRecordSplitter();
  let heading: Buffer | undefined;
  let columns: readonly string[] = [];
  return (lines, isEnd) => {
    const entries: Entry[] = [];
    for (const { record, fields } of parseRecords(split(lines, isEnd))) {
      const { first, last, bytes } = record;
      if (heading === undefined) {
        const names = checkHeading(fields);
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

/** The lines of a record, without the final line feed. */
interface CsvRecord {
  readonly first: number;
  readonly last: number;
  readonly bytes: Buffer;
  /** Why it cannot be parsed, if that is known before. */
  readonly problem: string | undefined;
}

/** Creates a function that joins lines to records. A record ends with the line that leaves no quote open. */
function createRecordSplitter(): (lines: readonly Line[], isEnd: boolean) => readonly CsvRecord[] {
  let open: Line[] = [];
  let length = 0;
  return (lines, isEnd) => {
    const records: CsvRecord[] = [];
    const endRecord = (isOpen: boolean): void => {
      if (open.length > 0) records.push(toRecord(open, isOpen));
      open = [];
      length = 0;
    };
    for (const line of lines) {
      if (length + line.bytes.length > LONGEST_LINE) endRecord(true);
      const isInside = open.length > 0;
      if (!isInside && isBlank(line)) continue;
      open.push(line);
      length += line.bytes.length + 1;
      if (!leavesOpen(line.bytes, isInside)) endRecord(false);
    }
    if (isEnd) endRecord(true);
    return records;
  };
}

/** Whether a quote is open at the end of a line, which begins inside or outside quotes. */
function leavesOpen(line: Buffer, isInside: boolean): boolean {
  let quotes = 0;
  for (let at = line.indexOf(QUOTE); at >= 0; at = line.indexOf(QUOTE, at + 1)) quotes += 1;
  const isOpen = isInside !== (quotes % 2 === 1);
  if (!isOpen || quotes === 0) return isOpen;
  // Only a quote before a field, or the second of two, opens: after another one, the next lines are not lost.
  const last = line.lastIndexOf(QUOTE);
  return last === 0 || line[last - 1] === COMMA || line[last - 1] === QUOTE;
}

const QUOTE = 0x22;
const COMMA = 0x2c;

function toRecord(lines: readonly Line[], isOpen: boolean): CsvRecord {
  const bytes = Buffer.concat(lines.flatMap((line) => [FEED, line.bytes]).slice(1));
  const [first, last] = [lines[0]?.number ?? 0, lines.at(-1)?.number ?? 0];
  return { first, last, bytes, problem: problemOf(bytes, isOpen) };
}

function problemOf(bytes: Buffer, isOpen: boolean): string | undefined {
  if (bytes.length > LONGEST_LINE) return TOO_LONG;
  if (!isUtf8(bytes)) return "It is not UTF-8.";
  return isOpen ? "A quote is not closed." : undefined;
}

const FEED = Buffer.of(LINE_FEED);

type Fields = Result<readonly string[], string>;

interface ParsedRecord {
  readonly record: CsvRecord;
  readonly fields: Fields;
}

/** Parses records together, which is four times as fast as one by one. If one fails, parses smaller parts. */
function parseRecords(records: readonly CsvRecord[]): readonly ParsedRecord[] {
  const problem = records.find((record) => record.problem !== undefined)?.problem;
  const rows = problem === undefined ? parseRows(records.map(({ bytes }) => bytes)) : err(problem);
  if (rows.isOk()) {
    return records.map((record, index) => ({ record, fields: ok(rows.value[index] ?? []) }));
  }
  if (records.length === 1) {
    return records.map((record) => ({ record, fields: err(rows.error) }));
  }
  const size = Math.ceil(records.length / PARTS);
  const starts = Array.from({ length: Math.ceil(records.length / size) }, (_, part) => part * size);
  return starts.flatMap((start) => parseRecords(records.slice(start, start + size)));
}

const PARTS = 16;

const MISPLACED = "A quote is out of place.";

/** Returns the fields of each record. */
function parseRows(records: readonly Buffer[]): Result<readonly (readonly string[])[], string> {
  const text = Buffer.concat(records.flatMap((record) => [record, FEED]));
  try {
    return ok(parse(text, { recordDelimiter: ["\r\n", "\n"], relaxColumnCount: true }));
  } catch (error) {
    if (error instanceof CsvError) return err(MISPLACED);
    throw error;
  }
}

/** Returns the names of the columns. */
function checkHeading(fields: Fields): Fields {
  if (fields.isErr()) return err(`The heading cannot be read. ${fields.error} ${SEPARATORS}`);
  const names = fields.value;
  const missing = ["name", "categoryId"].filter((column) => !names.includes(column));
  if (missing.length > 0)
    return err(`The heading has no column ${missing.join(", ")}. ${SEPARATORS}`);
  const repeated = ["name", "categoryId", "status"].filter(
    (column) => names.indexOf(column) !== names.lastIndexOf(column),
  );
  if (repeated.length > 0) return err(`The heading repeats the column ${repeated.join(", ")}.`);
  return fields;
}

const SEPARATORS = "Columns are separated by commas.";

function toPet(names: readonly string[], values: readonly string[]): Result<unknown, string> {
  if (values.length !== names.length) {
    return err(`It has ${counted(values.length, "field")} instead of ${names.length}.`);
  }
  const field = (column: string): string => values[names.indexOf(column)] ?? "";
  const categoryId = parseInt64(field("categoryId"));
  return ok({ name: field("name"), categoryId, status: field("status") || undefined });
}
