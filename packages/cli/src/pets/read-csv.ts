import { isUtf8 } from "node:buffer";
import { parseInt64 } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import {
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  readLines,
  TOO_LONG,
  type Entry,
  type EntryReader,
  type Line,
} from "./pet-file.js";
import { counted } from "./progress.js";

/** A record, with its fields or the reason why it has none. */
interface CsvRecord extends Omit<Entry, "pet"> {
  readonly fields: Result<readonly string[], string>;
}

const COLUMNS = ["name", "categoryId", "status"] as const;
const REQUIRED_COLUMNS = ["name", "categoryId"] as const;
/** Separators that other programs use instead of commas. */
const SEPARATORS = [
  [";", "semicolons"],
  ["\t", "tabs"],
  ["|", "vertical bars"],
] as const;
const NOT_CLOSED = "A quote is not closed.";

/** Reads comma-separated values (RFC 4180) with a heading, whose columns may be in any order. */
export const readCsv: EntryReader = async function* (chunks) {
  let heading: Buffer | undefined;
  let names: readonly string[] = [];
  for await (const records of readRecords(chunks)) {
    const entries: Entry[] = [];
    for (const { first, last, bytes, fields } of records) {
      if (heading !== undefined) {
        const pet = fields.andThen((values) => toPet(names, values));
        entries.push({ first, last, bytes, pet });
        continue;
      }
      const checked = checkHeading(fields, bytes);
      if (checked.isErr()) {
        yield err(checked.error);
        return;
      }
      heading = bytes;
      names = checked.value;
    }
    yield ok({ entries, heading });
  }
  if (heading === undefined) yield err("There is no heading.");
};

/**
 * Reads records with their bytes, which a stream of csv-parse does not keep of a record that it rejects.
 * Lines whose quote is not closed within the maximum length of an entry are one bad record.
 */
async function* readRecords(chunks: AsyncIterable<Buffer>): AsyncIterable<readonly CsvRecord[]> {
  let open: Line[] = [];
  let length = 0;
  for await (const lines of readLines(chunks)) {
    const records: CsvRecord[] = [];
    const add = (record: CsvRecord): void => {
      records.push(record);
      open = [];
      length = 0;
    };
    for (const line of lines) {
      if (open.length > 0 && length + line.bytes.length > LONGEST_ENTRY) add(toRecord(open));
      if (open.length === 0 && isBlank(line)) continue;
      const isInside = open.length > 0 && !line.bytes.includes('"');
      open.push(line);
      length += line.bytes.length + 1;
      if (isInside) continue;
      const record = toRecord(open);
      if (!record.fields.isErr() || record.fields.error !== NOT_CLOSED) add(record);
    }
    yield records;
  }
  if (open.length > 0) yield [toRecord(open)];
}

function toRecord(lines: readonly Line[]): CsvRecord {
  const last = lines.at(-1)?.number ?? 0;
  const [head = Buffer.alloc(0), ...others] = lines.map((line) => line.bytes);
  const rest = others.flatMap((bytes) => [LINE_FEED, bytes]);
  const bytes = rest.length === 0 ? head : Buffer.concat([head, ...rest]);
  return { first: last - lines.length + 1, last, bytes, fields: parseFields(bytes) };
}

function parseFields(bytes: Buffer): Result<readonly string[], string> {
  if (bytes.length > LONGEST_ENTRY) return err(TOO_LONG);
  if (!isUtf8(bytes)) return err("It is not UTF-8.");
  const text = `${bytes.toString("utf8").replace(/\r$/, "")},`;
  const fields = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",]*)),/gy)];
  const rest = text.slice(fields.reduce((length, [field]) => length + field.length, 0));
  if (rest === "")
    return ok(fields.map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain));
  return err(/^"(?:[^"]|"")*$/.test(rest) ? NOT_CLOSED : "A quote is out of place.");
}

/** Returns the names of the columns. */
function checkHeading(
  fields: CsvRecord["fields"],
  bytes: Buffer,
): Result<readonly string[], string> {
  const missing = missingColumns(fields);
  if (missing.length > 0) {
    const text = bytes.toString("utf8");
    const other = SEPARATORS.find(([separator]) => {
      const fields = parseFields(Buffer.from(text.replaceAll(separator, ",")));
      return missingColumns(fields).length === 0;
    });
    if (other !== undefined)
      return err(`The heading is separated by ${other[1]} instead of commas.`);
  }
  return fields.andThen((names) => {
    if (missing.length > 0) return err(`The heading has no column ${missing.join(", ")}.`);
    const repeated = COLUMNS.filter(
      (column) => names.indexOf(column) !== names.lastIndexOf(column),
    );
    if (repeated.length > 0) return err(`The heading repeats the column ${repeated.join(", ")}.`);
    return ok(names);
  });
}

function missingColumns(fields: CsvRecord["fields"]): readonly string[] {
  const names = fields.unwrapOr<readonly string[]>([]);
  return REQUIRED_COLUMNS.filter((column) => !names.includes(column));
}

function toPet(names: readonly string[], values: readonly string[]): Result<unknown, string> {
  if (values.length !== names.length) {
    return err(`It has ${counted(values.length, "field")} instead of ${names.length}.`);
  }
  const field = (column: string): string => values[names.indexOf(column)] ?? "";
  const categoryId = parseInt64(field("categoryId"));
  return ok({ name: field("name"), categoryId, status: field("status") || undefined });
}
