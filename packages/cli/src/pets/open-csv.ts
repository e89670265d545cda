import { isUtf8 } from "node:buffer";
import { parseInt64 } from "@petstore/core";
import { CsvError, parse } from "csv-parse/sync";
import { err, ok, type Result } from "neverthrow";
import { counted } from "./counted.js";
import { TOO_LONG, type Entry } from "./entry.js";
import type { Decode } from "./pet-format.js";

type Fields = readonly string[];

const COLUMNS = ["name", "categoryId", "status"] as const;
const REQUIRED = ["name", "categoryId"] as const;

/** Opens CSV by the names of its columns, in any order; those that no pet has are ignored. */
export function openCsv(heading: Entry | undefined): Result<Decode, string> {
  if (heading === undefined) return err("There is no heading.");
  return readOne(heading).andThen((names) => {
    const missing = REQUIRED.filter((column) => !names.includes(column));
    const twice = COLUMNS.filter((column) => names.filter((name) => name === column).length > 1);
    if (missing.length > 0) return err(`The heading has no column ${missing.join(", ")}.`);
    if (twice.length > 0) return err(`The heading has a column ${twice.join(", ")} twice.`);
    return ok<Decode>((entries) => readAll(entries).map((read) => read.andThen(toPet(names))));
  });
}

/** All together, for speed; one by one only when one is bad. */
function readAll(entries: readonly Entry[]): readonly Result<Fields, string>[] {
  const texts = entries.map(textOf).filter((text) => text !== undefined);
  if (texts.length === entries.length) {
    const together = readText(texts.join("\n"));
    if (together.isOk() && together.value.length === entries.length)
      return together.value.map((fields) => ok(fields));
  }
  return entries.map(readOne);
}

function readOne(entry: Entry): Result<Fields, string> {
  if (entry.bytes === undefined) return err(TOO_LONG);
  const text = textOf(entry);
  if (text === undefined) return err("It is not UTF-8.");
  return readText(text).andThen(([fields, ...others]) =>
    fields === undefined || others.length > 0 ? err("It is not one record.") : ok(fields),
  );
}

/** Without the first half of a CRLF, the line break of RFC 4180. */
function textOf({ bytes }: Entry): string | undefined {
  if (bytes === undefined || !isUtf8(bytes)) return undefined;
  return bytes.toString("utf8").replace(/\r$/, "");
}

function readText(text: string): Result<readonly Fields[], string> {
  try {
    return ok(parse(text, { recordDelimiter: "\n", relaxColumnCount: true }));
  } catch (error) {
    const reason = error instanceof CsvError && error.code === "CSV_QUOTE_NOT_CLOSED";
    return err(reason ? "A quote is not closed." : "A quote is out of place.");
  }
}

/** A cell is text: only the category is read as a number, and an empty status is none. */
function toPet(names: Fields): (fields: Fields) => Result<unknown, string> {
  return (fields) => {
    if (fields.length !== names.length) {
      return err(`It has ${counted(fields.length, "field")} instead of ${names.length}.`);
    }
    const cell = (column: string): string => fields[names.indexOf(column)] ?? "";
    const categoryId = parseInt64(cell("categoryId"));
    return ok({ name: cell("name"), categoryId, status: cell("status") || undefined });
  };
}
