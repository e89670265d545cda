import { isAscii, isUtf8 } from "node:buffer";
import { pipeline } from "node:stream";
import { parseInt64, parseNewPet, type NewPet } from "@petstore/core";
import { parse, type CsvError, type Options } from "csv-parse";
import { err, ok, type Result } from "neverthrow";
import { counted } from "../terminal.js";
import { LINE_FEED, LONGEST, TOO_LONG, type Entry } from "./entry.js";

/**
 * Reads comma-separated values (RFC 4180) with a heading, whose columns may be in any order. Throws if the
 * heading is wrong, or if it is not clear where a record ends.
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Entry[]> {
  let heading: Buffer | undefined;
  let columns: readonly string[] = [];
  for await (const rows of readRows(chunks)) {
    const entries: Entry[] = [];
    for (const { first, last, text, record } of rows) {
      const bytes = Buffer.from(text, "latin1");
      const fields = decodeFields(record, text, bytes);
      if (heading === undefined) {
        columns = fields.unwrapOr([]);
        if (!isHeading(columns)) throw new Error(HEADING);
        heading = Buffer.concat([bytes, LINE_FEED]);
      } else {
        const pet = fields.andThen((values) => toPet(columns, values));
        entries.push({ first, last, bytes, heading, pet });
      }
    }
    yield entries;
  }
  if (heading === undefined) throw new Error(HEADING);
}

const HEADING =
  "The first line must name the columns name and categoryId, and optionally status, each once, separated by commas";

function isHeading(columns: readonly string[]): boolean {
  const count = (column: string) => columns.filter((name) => name === column).length;
  return count("name") === 1 && count("categoryId") === 1 && count("status") <= 1;
}

function toPet(columns: readonly string[], values: readonly string[]): Result<NewPet, string> {
  if (values.length !== columns.length) {
    return err(`It has ${counted(values.length, "field")} instead of ${columns.length}.`);
  }
  const field = (column: string): string => values[columns.indexOf(column)] ?? "";
  const categoryId = parseInt64(field("categoryId"));
  const status = field("status") || undefined;
  return parseNewPet({ name: field("name"), categoryId, status }).mapErr(({ message }) => message);
}

/** A record and its lines, without the final line feed. Each character is a byte of the file. */
interface Row {
  readonly first: number;
  readonly last: number;
  readonly text: string;
  readonly record: readonly string[];
}

const PARSING: Options = {
  encoding: "latin1",
  raw: true,
  recordDelimiter: ["\r\n", "\n"],
  relaxColumnCount: true,
  // A quote out of place does not end the parser: `decodeFields` rejects its record.
  relaxQuotes: true,
  // The parser ends at the record that is reported, but does not discard the records before it.
  skipRecordsWithError: true,
  maxRecordSize: LONGEST,
};

/** Rows are read together if they have arrived, but at most this many: more would need more memory. */
const MOST_ROWS = 500;

/** Reads records in groups, without blank lines. Throws at a record without an end. */
async function* readRows(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Row[]> {
  let flaw: CsvError | undefined;
  const onSkip = (error: CsvError | undefined) => void (flaw ??= error);
  async function* untilFlaw(): AsyncIterable<Buffer> {
    for await (const chunk of chunks) {
      if (flaw !== undefined) return;
      yield chunk;
    }
  }
  const parser = pipeline(untilFlaw, parse({ ...PARSING, onSkip }), () => undefined);
  const records: AsyncIterable<{ readonly record: string[]; readonly raw: string }> = parser;
  let rows: Row[] = [];
  let first = 1;
  let count = 0;
  for await (const { record, raw } of records) {
    if (count === flaw?.["records"]) break;
    count += 1;
    // The raw text ends with the first byte of a line break.
    const text = raw.endsWith("\n") ? raw.slice(0, -1) : raw;
    const last = first + (text.includes("\n") ? text.split("\n").length - 1 : 0);
    if (!BLANK.test(text)) rows.push({ first, last, text, record });
    first = last + 1;
    if (parser.readableLength > 0 && rows.length < MOST_ROWS) continue;
    yield rows;
    rows = [];
  }
  yield rows;
  if (flaw === undefined) return;
  const reason = flaw.code === "CSV_MAX_RECORD_SIZE" ? TOO_LONG : "A quote is not closed.";
  throw new Error(`Line ${first} begins a record without a clear end. ${reason}`);
}

const BLANK = /^[ \t\r]*$/;

/** RFC 4180, section 2. */
const RECORD = /^(?:[^",]*|"[^"]*(?:""[^"]*)*")(?:,(?:[^",]*|"[^"]*(?:""[^"]*)*"))*\r?$/;

/** Returns the fields of a record as text. */
function decodeFields(
  record: readonly string[],
  text: string,
  bytes: Buffer,
): Result<readonly string[], string> {
  if (text.includes('"') && !RECORD.test(text)) return err("A quote is out of place.");
  // ASCII is the same in both encodings.
  if (isAscii(bytes)) return ok(record);
  if (!isUtf8(bytes)) return err("It is not UTF-8.");
  return ok(record.map((field) => Buffer.from(field, "latin1").toString()));
}
