import { parseInt64, type Pet } from "@petstore/core";
import type { EachField } from "@petstore/core/internal";
import { Option } from "commander";

const FORMATS = ["ndjson", "csv"] as const;
export type Format = (typeof FORMATS)[number];

export function formatOption(): Option {
  return new Option(
    "--format <name>",
    "the format of the file (default: csv if its name ends in .csv, otherwise ndjson)",
  ).choices(FORMATS);
}

export function formatOf(chosen: Format | undefined, path: string): Format {
  return chosen ?? (/\.csv$/i.test(path) ? "csv" : "ndjson");
}

interface CsvColumn {
  /** Whether a file to import must have it. */
  readonly isRequired: boolean;
  readonly write: (pet: Pet) => string;
  /** Returns the value of the field for validation; `undefined` if there is none. */
  readonly read: (text: string) => unknown;
}

/** The columns of CSV (RFC 4180), in the order in which they are exported. */
const columns: EachField<Record<keyof Pet, CsvColumn>> = {
  id: { isRequired: false, write: ({ id }) => `${id}`, read: parseInt64 },
  name: { isRequired: true, write: ({ name }) => quoted(name), read: (text) => text },
  categoryId: { isRequired: true, write: ({ categoryId }) => `${categoryId}`, read: parseInt64 },
  status: { isRequired: false, write: ({ status }) => status, read: (text) => text || undefined },
};

export const csvHeading = Object.keys(columns).join();

export function encodeRecord(pet: Pet): string {
  return Object.values(columns)
    .map(({ write }) => write(pet))
    .join();
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const required = Object.entries(columns).flatMap(([name, { isRequired }]) =>
  isRequired ? name : [],
);
const optional = Object.keys(columns).filter((name) => !required.includes(name));

const words = new Intl.ListFormat("en-GB");

export const COLUMNS = `${words.format(required)}, and optionally ${words.format(optional)}`;

export const HEADING_RULE = `The first line must name the columns ${COLUMNS}, each once, separated by commas`;

/** Whether a file with these columns, in any order and beside others, can be imported. */
export function isHeading(names: readonly string[]): boolean {
  return Object.entries(columns).every(([column, { isRequired }]) => {
    const count = names.filter((name) => name === column).length;
    return count === 1 || (count === 0 && !isRequired);
  });
}

/** Returns the fields of a record, whose values are in the order of these columns. They are not validated. */
export function decodeRecord(names: readonly string[], values: readonly string[]) {
  const textOf = (name: string): string => values[names.indexOf(name)] ?? "";
  return Object.fromEntries(
    Object.entries(columns).map(([name, { read }]) => [name, read(textOf(name))]),
  );
}
