import { isAscii, isUtf8 } from "node:buffer";
import { pipeline } from "node:stream";
import { parseInt64 } from "@petstore/core";
import { parse } from "csv-parse";
import { err, ok, type Result } from "neverthrow";
import { counted } from "../terminal.js";
import { isBlank, LONGEST_ENTRY, TOO_LONG, type Entry, type EntryGroup } from "./entries.js";

/** Reads comma-separated values (RFC 4180) with a heading, whose columns may be in any order. */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncIterable<EntryGroup> {
  let heading: Buffer | undefined;
  let columns: readonly string[] = [];
  for await (const records of readRecords(chunks)) {
    const entries: Entry[] = [];
    for (const { fields, ...record } of records) {
      if (heading === undefined) {
        const names = checkHeading(fields);
        if (names.isErr()) {
          yield { entries, problem: names.error };
          return;
        }
        heading = record.bytes;
        columns = names.value;
      } else {
        const pet = fields.andThen((values) => toPet(columns, values));
        entries.push({ ...record, pet });
      }
    }
    yield { entries, heading };
  }
  if (heading === undefined) yield { entries: [], problem: "There is no heading." };
}

type Fields = Result<readonly string[], string>;

/** A record and its fields, or the reason why it cannot be read. */
interface CsvRecord extends Omit<Entry, "pet"> {
  readonly fields: Fields;
}

/** What the parser returns: each character is a byte of the file. `raw` ends with the first byte of a line break. */
interface Row {
  readonly record: readonly string[];
  readonly raw: string;
}

/** Reads records, without blank lines. Throws at one that is longer than `LONGEST_RECORD`. */
async function* readRecords(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly CsvRecord[]> {
  const input = { bytes: 0, isCutOff: false, unclosed: "" };
  async function* limited(): AsyncIterable<Buffer> {
    for await (const chunk of chunks) {
      input.isCutOff = input.bytes + chunk.length > LONGEST_RECORD;
      if (input.isCutOff) return;
      input.bytes += chunk.length;
      yield chunk;
    }
  }
  const parser = parse({
    encoding: "latin1",
    raw: true,
    recordDelimiter: ["\r\n", "\n"],
    relaxColumnCount: true,
    // A misplaced quote does not end the parser: `fieldsOf` rejects its record.
    relaxQuotes: true,
    // The only error that is left is a quote that is not closed.
    skipRecordsWithError: true,
    onSkip: (_, raw = "") => void (input.unclosed = raw),
  });
  const rows: AsyncIterable<Row> = pipeline(limited, parser, () => undefined);

  let records: CsvRecord[] = [];
  let line = 1;
  const add = (raw: string, row: readonly string[] | undefined): void => {
    const text = raw.endsWith("\n") ? raw.slice(0, -1) : raw;
    const bytes = Buffer.from(text, "latin1");
    const [first, last] = [line, line + text.split("\n").length - 1];
    if (!isBlank(bytes)) records.push({ first, last, bytes, fields: fieldsOf(text, bytes, row) });
    line = last + 1;
  };
  for await (const { record, raw } of rows) {
    input.bytes -= raw.endsWith("\r") ? raw.length + 1 : raw.length;
    if (input.isCutOff && input.bytes <= 0) break;
    add(raw, record);
    if (parser.readableLength > 0 && records.length < MOST_RECORDS) continue;
    yield records;
    records = [];
  }
  if (input.unclosed !== "" && !input.isCutOff) add(input.unclosed, undefined);
  yield records;
  if (input.isCutOff) throw new Error(TOO_LONG_TO_READ);
}

/** A quote that is never closed must not fill the memory. */
const LONGEST_RECORD = 4 * LONGEST_ENTRY;
const TOO_LONG_TO_READ = `a record is longer than ${LONGEST_RECORD / 1_048_576} MiB, perhaps because a quote is not closed`;

/** Records are read together if they have arrived, but at most this many: more would need more memory. */
const MOST_RECORDS = 500;

/** Returns the fields of a record; `row` is `undefined` if a quote is not closed. */
function fieldsOf(text: string, bytes: Buffer, row: readonly string[] | undefined): Fields {
  if (row === undefined) return err("A quote is not closed.");
  if (bytes.length > LONGEST_ENTRY) return err(TOO_LONG);
  if (!isUtf8(bytes)) return err("It is not UTF-8.");
  if (text.includes('"') && !RECORD.test(text)) return err("A quote is out of place.");
  // ASCII is the same in both encodings.
  return ok(isAscii(bytes) ? row : row.map((field) => Buffer.from(field, "latin1").toString()));
}

/** RFC 4180, section 2. */
const RECORD = /^(?:[^",]*|"(?:[^"]|"")*")(?:,(?:[^",]*|"(?:[^"]|"")*"))*\r?$/;

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
