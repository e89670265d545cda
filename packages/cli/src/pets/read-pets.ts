import { isAscii, isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { pipeline } from "node:stream";
import { ownField, toInt64 } from "@petstore/core/facts";
import type { NewPet } from "@petstore/core/storage";
import { parseNewPet } from "@petstore/core/internal";
import { decodeJson } from "@petstore/http-adapter";
import { parse, type CsvError, type Options } from "csv-parse";
import { err, ok, type Result } from "neverthrow";
import { readLines } from "../open-file.js";
import { counted } from "../terminal.js";
import { decodeRecord, HEADING_RULE, isHeading, type Format } from "./formats.js";

/** A line of a file, or the lines of a CSV record, which has line breaks in quotes. */
export interface Entry {
  /** The numbers of its first and last line, from 1. */
  readonly first: number;
  readonly last: number;
  /** Its bytes without the final line feed; cut off if they are more than `LONGEST`. */
  readonly bytes: Buffer;
  /** The heading with its line feed; empty if the format has none. */
  readonly heading: Buffer;
  /** The SHA-256 of the heading, for a copy that adds the bytes. */
  readonly headingHash: Hash;
  readonly pet: Result<NumberedPet, string>;
}

interface NumberedPet extends NewPet {
  /** Positive; `undefined` if there is none. */
  readonly id: bigint | undefined;
}

/** The maximum length of a line or record, in bytes. */
export const LONGEST = 1_048_576;
const TOO_LONG = `It is longer than ${LONGEST / 1_024} KiB.`;
export const LINE_FEED = Buffer.from("\n");

export function lineCount({ first, last }: Entry): number {
  return last - first + 1;
}

/** `onOpenEnd`: the last record of CSV has no line break, so part of it, or of its last field, may be missing. */
export function readEntries(format: Format, chunks: AsyncIterable<Buffer>, onOpenEnd: () => void) {
  const text = withoutMark(chunks);
  return format === "csv" ? readCsv(text, onOpenEnd) : readNdjson(text);
}

const MARK = Buffer.from("\uFEFF");

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start === undefined) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < MARK.length) continue;
    yield start.indexOf(MARK) === 0 ? start.subarray(MARK.length) : start;
    start = undefined;
  }
  if (start !== undefined) yield start;
}

async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly Entry[]> {
  const none = { heading: Buffer.alloc(0), headingHash: createHash("sha256") };
  let number = 0;
  let isBeginning = true;
  for await (const lines of readLines(chunks, LONGEST)) {
    const entries: Entry[] = [];
    for (const bytes of lines) {
      number += 1;
      if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) continue;
      if (isBeginning && beginsArray(bytes)) throw new Error(JSON_ARRAY);
      isBeginning = false;
      entries.push({ first: number, last: number, bytes, ...none, pet: parseLine(bytes) });
    }
    yield entries;
  }
}

const JSON_ARRAY =
  "This is a JSON array, not one object per line. Convert it with jq -c '.[]' (jq 1.7 or newer keeps large integers exact)";

/** Of objects, and not whole on this line: a wrong line may begin with a bracket, too. */
function beginsArray(line: Buffer): boolean {
  return /^\s*\[\s*(?:\{|$)/.test(line.toString("latin1")) && decodeJson(line).isErr();
}

function parseLine(line: Buffer): Result<NumberedPet, string> {
  if (line.length > LONGEST) return err(TOO_LONG);
  return decodeJson(line)
    .mapErr(() => "It is not JSON in UTF-8.")
    .andThen((input) => (Array.isArray(input) ? err(JSON_ARRAY) : toNumbered(input)));
}

function toNumbered(input: unknown): Result<NumberedPet, string> {
  const id = toInt64(ownField(input, "id"));
  return parseNewPet(input)
    .map((pet) => ({ ...pet, id: id !== undefined && id > 0n ? id : undefined }))
    .mapErr(({ message }) => message);
}

/** RFC 4180, with columns in any order. Throws if the heading is wrong, or if it is not clear where a record ends. */
async function* readCsv(chunks: AsyncIterable<Buffer>, onOpenEnd: () => void) {
  const headingHash = createHash("sha256");
  let heading: Buffer | undefined;
  let columns: readonly string[] = [];
  for await (const rows of readRows(chunks, onOpenEnd)) {
    const entries: Entry[] = [];
    for (const row of rows) {
      const { first, last } = row;
      const bytes = Buffer.from(row.text, "latin1");
      const fields = decodeFields(row, bytes);
      if (heading === undefined) {
        columns = fields.unwrapOr([]);
        if (!isHeading(columns)) throw new Error(HEADING_RULE);
        heading = Buffer.concat([bytes, LINE_FEED]);
        headingHash.update(heading);
      } else {
        const pet = fields.andThen((values) =>
          values.length === columns.length
            ? toNumbered(decodeRecord(columns, values))
            : err(`It has ${counted(values.length, "field")} instead of ${columns.length}.`),
        );
        entries.push({ first, last, bytes, heading, headingHash, pet });
      }
    }
    yield entries;
  }
  if (heading === undefined) throw new Error(HEADING_RULE);
}

/** A record and its lines, without the final line feed. Each character is a byte of the file. */
interface Row extends Pick<Entry, "first" | "last"> {
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

/** Without blank lines. Throws at a record without an end. */
async function* readRows(chunks: AsyncIterable<Buffer>, onOpenEnd: () => void) {
  let csvError: CsvError | undefined;
  const onSkip = (error: CsvError | undefined) => void (csvError ??= error);
  async function* untilError(): AsyncIterable<Buffer> {
    let last: string | undefined;
    for await (const chunk of chunks) {
      if (csvError !== undefined) return;
      last = chunk.toString("latin1", chunk.length - 1) || last;
      yield chunk;
    }
    // A line break that is cut in half is completed.
    if (last === "\r") yield LINE_FEED;
    else if (last !== "\n") onOpenEnd();
  }
  const parser = pipeline(untilError, parse({ ...PARSING, onSkip }), () => undefined);
  const records: AsyncIterable<{ readonly record: string[]; readonly raw: string }> = parser;
  let rows: Row[] = [];
  let first = 1;
  for await (const { record, raw } of records) {
    // The raw text ends with the first byte of a line break.
    const text = raw.endsWith("\n") ? raw.slice(0, -1) : raw;
    const last = first + (text.includes("\n") ? text.split("\n").length - 1 : 0);
    if (!/^[ \t\r]*$/.test(text)) rows.push({ first, last, text, record });
    first = last + 1;
    if (parser.readableLength > 0 && rows.length < MOST_ROWS) continue;
    yield rows;
    rows = [];
  }
  yield rows;
  if (csvError === undefined) return;
  const reason = csvError.code === "CSV_MAX_RECORD_SIZE" ? TOO_LONG : "A quote is not closed.";
  throw new Error(`Line ${first} begins a record without a clear end. ${reason}`);
}

/** RFC 4180, section 2. */
const RECORD = /^(?:[^",]*|"[^"]*(?:""[^"]*)*")(?:,(?:[^",]*|"[^"]*(?:""[^"]*)*"))*\r?$/;

function decodeFields({ record, text }: Row, bytes: Buffer): Result<readonly string[], string> {
  if (text.includes('"') && !RECORD.test(text)) return err("A quote is out of place.");
  // ASCII is the same in both encodings.
  if (isAscii(bytes)) return ok(record);
  if (!isUtf8(bytes)) return err("It is not UTF-8.");
  return ok(record.map((field) => Buffer.from(field, "latin1").toString()));
}
