import { isUtf8 } from "node:buffer";
import { finished } from "node:stream";
import { parseInt64 } from "@petstore/core";
import { CsvError, parse, type Parser } from "csv-parse";
import { err, ok, type Result } from "neverthrow";
import {
  isBlank,
  LINE_FEED,
  LONGEST_ENTRY,
  readBlocks,
  TOO_LONG,
  type Entry,
  type EntryGroup,
  type EntryReader,
} from "./pet-file.js";
import { counted } from "./progress.js";

type Fields = Result<readonly string[], string>;

/**
 * Reads comma-separated values (RFC 4180) with a heading, whose columns may be in any order. At a record that
 * csv-parse refuses, a new parser starts after the line of the error. The parser's own option to skip such
 * records does not tell where they end, and takes quadratic time for a line of quotes.
 */
export const readCsv: EntryReader = async function* (chunks) {
  let entries: Entry[] = [];
  let heading: Buffer | undefined;
  let columns: Fields | undefined;
  let line = 1;
  // The bytes after the last record, and their position in the input of the parser.
  let open = Buffer.alloc(0);
  let position = 0;

  const take = (length: number, fields: Fields): void => {
    let bytes = open.subarray(0, length);
    open = open.subarray(length);
    position += length;
    for (; bytes.length > 0 && isBlank(firstLines(bytes, 1)); line += 1)
      bytes = bytes.subarray(firstLines(bytes, 1).length);
    if (bytes.length === 0) return;
    if (bytes.at(-1) === LINE_FEED[0]) bytes = bytes.subarray(0, -1);
    const first = line;
    const last = first + bytes.toString("latin1").split("\n").length - 1;
    line = last + 1;
    const values = checkBytes(bytes).andThen(() => fields);
    if (columns !== undefined) {
      const pet = columns.andThen((names) => values.andThen((each) => toPet(names, each)));
      entries.push({ first, last, bytes, pet });
    } else {
      heading = bytes;
      columns = checkHeading(values, bytes);
    }
  };
  const startParser = (): Parser =>
    parse({
      recordDelimiter: ["\r\n", "\n"],
      relaxColumnCount: true,
      skipEmptyLines: true,
      raw: true,
      // With `raw`, csv-parse passes an object, which its types do not say.
      onRecord: (record: string[] | { readonly record: string[] }, { bytes: end }) => {
        if (end > position)
          take(end - position, ok(Array.isArray(record) ? record : record.record));
        return null;
      },
    }).on("error", () => undefined);

  let parser = startParser();
  const read = async (block: Buffer, isLast: boolean): Promise<Result<EntryGroup, string>> => {
    entries = [];
    open = Buffer.concat([open, block]);
    let problem = await write(parser, block, isLast);
    while (problem !== undefined || open.length > LONGEST_ENTRY) {
      take(...refuse(open, problem));
      if (columns?.isErr() === true) break;
      parser = startParser();
      // The first record sets the number of fields: csv-parse is slow if others have more or fewer.
      const start = Buffer.concat(heading === undefined ? [] : [heading, LINE_FEED]);
      await write(parser, start, false);
      position = start.length;
      problem = await write(parser, open, isLast);
    }
    if (columns?.isErr() === true) return err(columns.error);
    if (columns === undefined && isLast) return err("There is no heading.");
    return ok({ entries, heading });
  };
  for await (const block of readBlocks(chunks)) {
    const group = await read(block, false);
    yield group;
    if (group.isErr()) return;
  }
  yield await read(Buffer.alloc(0), true);
};

/** Resolves to the error if the bytes are not comma-separated values. */
function write(parser: Parser, bytes: Buffer, isLast: boolean): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const done = (error?: Error | null): void => resolve(error ?? undefined);
    if (isLast) finished(parser.end(bytes), { readable: false }, done);
    else parser.write(bytes, done);
  });
}

/** Refuses the lines up to that of the error, or as many as an entry may have. */
function refuse(open: Buffer, problem: Error | undefined): [length: number, fields: Fields] {
  if (problem instanceof CsvError && problem.code !== "CSV_QUOTE_NOT_CLOSED") {
    const { length } = firstLines(open, String(problem["raw"]).split("\n").length);
    if (length <= LONGEST_ENTRY) return [length, err("A quote is out of place.")];
  }
  const isShort = open.length <= LONGEST_ENTRY;
  const length = isShort ? open.length : open.lastIndexOf(LINE_FEED, LONGEST_ENTRY) + 1;
  return [length || firstLines(open, 1).length, err("A quote is not closed.")];
}

/** Returns the first lines with their line feeds. */
function firstLines(bytes: Buffer, count: number): Buffer {
  let end = 0;
  for (let line = 0; line < count && end < bytes.length; line += 1) {
    end = bytes.indexOf(LINE_FEED, end) + 1 || bytes.length;
  }
  return bytes.subarray(0, end);
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
  return fields.andThen((names) => {
    const missing = missingColumns(names);
    if (missing.length > 0) return err(`The heading has no column ${missing.join(", ")}.`);
    const repeated = COLUMNS.filter((each) => names.indexOf(each) !== names.lastIndexOf(each));
    if (repeated.length > 0) return err(`The heading repeats the column ${repeated.join(", ")}.`);
    return ok(names);
  });
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
