import { isUtf8 } from "node:buffer";
import { parseInt64 } from "@petstore/core";
import { CsvError, parse } from "csv-parse/sync";
import { err, ok, type Result } from "neverthrow";
import {
  counted,
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  markLength,
  TOO_LONG,
  type Entry,
  type EntryGroup,
  type EntryReader,
} from "./pet-file.js";

/** A record with its final line feed, and its fields or the problem with its quotes. */
interface CsvRecord {
  readonly bytes: Buffer;
  readonly fields: Result<readonly string[], string>;
}

/** The heading, and a function that converts the records below it. */
interface Heading {
  readonly bytes: Buffer;
  readonly toPet: (fields: readonly string[]) => Result<unknown, string>;
}

const COLUMNS = ["name", "categoryId", "status"] as const;
const REQUIRED_COLUMNS = ["name", "categoryId"] as const;

/** Reads comma-separated values (RFC 4180) with a heading, whose columns may be in any order. */
export const readCsv: EntryReader = async function* (chunks) {
  let unfinished = Buffer.alloc(0);
  let line = 1;
  let heading: Heading | undefined;

  const read = (bytes: Buffer, isEnd: boolean): Result<EntryGroup, string> => {
    const entries: Entry[] = [];
    let start = line === 1 ? markLength(bytes) : 0;
    for (const { bytes: record, fields } of splitRecords(bytes.subarray(start), isEnd)) {
      const text = record.at(-1) === LINE_FEED ? record.subarray(0, -1) : record;
      const first = line;
      const last = first + countLineFeeds(text);
      start += record.length;
      line = last + 1;
      if (isBlank(text)) continue;
      const checked = checkBytes(text).andThen(() => fields);
      if (heading === undefined) {
        const parsed = checked.andThen((names) => parseHeading(names, text));
        if (parsed.isErr()) return err(parsed.error);
        heading = parsed.value;
      } else {
        const isTooLong = text.length > LONGEST_ENTRY;
        const pet = checked.andThen(heading.toPet);
        entries.push({ first, last, bytes: isTooLong ? undefined : text, pet });
      }
    }
    // An unfinished record is never longer than allowed, but an unfinished line may be. One byte more than
    // allowed is enough to recognize such a line.
    unfinished = Buffer.from(bytes.subarray(start, start + LONGEST_ENTRY + 1));
    if (isEnd && heading === undefined) return err("There is no heading.");
    return ok({ entries, heading: heading?.bytes });
  };

  for await (const chunk of chunks) {
    const group = read(Buffer.concat([unfinished, chunk]), false);
    yield group;
    if (group.isErr()) return;
  }
  yield read(unfinished, true);
};

/**
 * Splits bytes into records, and leaves out an unfinished record at the end. If a quote on a line is out
 * of place, or is not closed within the maximum length of an entry, the line is a record of its own.
 */
function splitRecords(bytes: Buffer, isEnd: boolean): readonly CsvRecord[] {
  const end = isEnd ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1;
  const records: CsvRecord[] = [];
  let start = 0;
  const add = (stop: number, fields: CsvRecord["fields"]): void => {
    records.push({ bytes: bytes.subarray(start, stop), fields });
    start = stop;
  };
  while (start < end) {
    const from = start;
    const problem = parseCsv(bytes.subarray(from, end), (fields, length) =>
      add(from + length, ok(fields)),
    );
    if (problem === undefined) break;
    const mayBeClosed = problem === QUOTE_NOT_CLOSED && bytes.length - start <= LONGEST_ENTRY;
    if (mayBeClosed && !isEnd) break;
    add(bytes.indexOf(LINE_FEED, start) + 1 || end, err(problem));
  }
  return records;
}

const QUOTE_NOT_CLOSED = "A quote is not closed.";
const QUOTE_OUT_OF_PLACE = "A quote is out of place.";

/** Parses records up to the first problem, and returns it. `length` is the length of all records so far. */
function parseCsv(
  bytes: Buffer,
  onRecord: (fields: readonly string[], length: number) => void,
): string | undefined {
  try {
    parse(bytes, {
      recordDelimiter: ["\r\n", "\n"],
      relaxColumnCount: true,
      onRecord: (fields, { bytes: length }) => {
        onRecord(fields, length);
        return null;
      },
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return error.code === "CSV_QUOTE_NOT_CLOSED" ? QUOTE_NOT_CLOSED : QUOTE_OUT_OF_PLACE;
  }
}

function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1))
    count += 1;
  return count;
}

function checkBytes(bytes: Buffer): Result<void, string> {
  if (bytes.length > LONGEST_ENTRY) return err(TOO_LONG);
  return isUtf8(bytes) ? ok() : err("It is not UTF-8.");
}

function parseHeading(names: readonly string[], bytes: Buffer): Result<Heading, string> {
  const missing = REQUIRED_COLUMNS.filter((column) => !names.includes(column));
  const repeated = COLUMNS.filter((column) => names.indexOf(column) !== names.lastIndexOf(column));
  if (missing.length > 0) return err(`The heading has no column ${missing.join(", ")}.`);
  if (repeated.length > 0) return err(`The heading repeats the column ${repeated.join(", ")}.`);

  return ok({
    bytes,
    toPet: (fields) => {
      if (fields.length !== names.length) {
        return err(`It has ${counted(fields.length, "field")} instead of ${names.length}.`);
      }
      const field = (column: string): string => fields[names.indexOf(column)] ?? "";
      const categoryId = parseInt64(field("categoryId"));
      return ok({ name: field("name"), categoryId, status: field("status") || undefined });
    },
  });
}
