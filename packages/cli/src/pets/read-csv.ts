import { isUtf8 } from "node:buffer";
import { parseInt64, parseNewPet, type NewPet } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { counted } from "../terminal.js";
import {
  isBlank,
  joinLines,
  LINE_FEED,
  LONGEST,
  TOO_LONG,
  type Entry,
  type Lines,
} from "./entry.js";

/**
 * Reads comma-separated values (RFC 4180) with a heading, whose columns may be in any order. Throws if the
 * heading is wrong, or if it is not clear where a record ends.
 */
export async function* readCsv(
  groups: AsyncIterable<readonly Lines[]>,
): AsyncIterable<readonly Entry[]> {
  let heading: Buffer | undefined;
  let columns: readonly string[] = [];
  for await (const records of readRecords(groups)) {
    const entries: Entry[] = [];
    for (const { first, last, bytes } of records) {
      const fields = splitFields(bytes);
      // Only a quote out of place in a single line says nothing about the lines that follow.
      if (fields.isErr() && (fields.error !== MISPLACED || last > first)) {
        yield entries;
        throw new Error(`Line ${first} begins a record without a clear end. ${fields.error}`);
      }
      if (heading === undefined) {
        columns = fields.unwrapOr([]);
        if (!isHeading(columns)) throw new Error(HEADING);
        heading = Buffer.concat([bytes, LINE_FEED]);
      } else {
        const pet = fields.andThen((values) => toPet(columns, values));
        const readable = isUtf8(bytes) ? pet : err("It is not UTF-8.");
        entries.push({ first, last, bytes, heading, pet: readable });
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

/** Joins the lines of each record whose quoted fields contain line breaks. Leaves out blank lines. */
async function* readRecords(
  groups: AsyncIterable<readonly Lines[]>,
): AsyncIterable<readonly Lines[]> {
  let open: Lines[] = [];
  let length = 0;
  for await (const lines of groups) {
    const records: Lines[] = [];
    for (const line of lines) {
      const isFirst = open.length === 0;
      if (isFirst && isBlank(line)) continue;
      // Inside a quoted field, quotes come in pairs.
      const isOpen = hasOddQuotes(line) ? isFirst && opensField(line) : !isFirst;
      open.push(line);
      length = isFirst ? line.bytes.length : length + 1 + line.bytes.length;
      if (isOpen && length <= LONGEST) continue;
      records.push(isFirst ? line : toRecord(open));
      open = [];
    }
    yield records;
  }
  if (open.length > 0) yield [toRecord(open)];
}

function hasOddQuotes({ bytes }: Lines): boolean {
  return bytes.includes(0x22) && bytes.toString("latin1").split('"').length % 2 === 0;
}

function opensField({ bytes }: Lines): boolean {
  const fields = splitFields(bytes);
  return fields.isErr() && fields.error === NOT_CLOSED;
}

function toRecord(lines: readonly Lines[]): Lines {
  const bytes = joinLines(lines).subarray(0, -1);
  return { first: lines[0]?.first ?? 0, last: lines.at(-1)?.last ?? 0, bytes };
}

/** A field (RFC 4180, section 2) and what ends it: a comma, or the end of the text, also while quotes are open. */
const FIELD = /"([^"]*(?:""[^"]*)*)(",|"$|$)|([^",]*)(,|$)/gy;

const NOT_CLOSED = "A quote is not closed.";
const MISPLACED = "A quote is out of place.";

/** Returns the fields of a record. */
function splitFields(record: Buffer): Result<readonly string[], string> {
  if (record.length > LONGEST) return err(TOO_LONG);
  const text = record.toString("utf8", 0, record.length - (record.at(-1) === 0x0d ? 1 : 0));
  if (!text.includes('"')) return ok(text.split(","));
  const fields: string[] = [];
  for (const [, quoted, quotedEnd, plain = "", plainEnd] of text.matchAll(FIELD)) {
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (quotedEnd === "") return err(NOT_CLOSED);
    if (quotedEnd === '"' || plainEnd === "") return ok(fields);
  }
  return err(MISPLACED);
}
