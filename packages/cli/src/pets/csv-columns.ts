import { parseInt64, type Pet } from "@petstore/core";
import type { EachField } from "@petstore/core/internal";

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

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

const required = Object.entries(columns).flatMap(([name, { isRequired }]) =>
  isRequired ? name : [],
);
const optional = Object.keys(columns).filter((name) => !required.includes(name));

export const COLUMNS = `${required.join(" and ")}, and optionally ${optional.join(" and ")}`;

export const HEADING_RULE = `The first line must name the columns ${COLUMNS}, each once, separated by commas`;

/** Whether a file with these columns, in any order and beside others, can be imported. */
export function isHeading(names: readonly string[]): boolean {
  const count = (column: string) => names.filter((name) => name === column).length;
  return Object.entries(columns).every(
    ([name, { isRequired }]) => count(name) === 1 || (!isRequired && count(name) === 0),
  );
}

/** Returns the fields of a record, whose values are in the order of these columns. They are not validated. */
export function decodeRecord(
  names: readonly string[],
  values: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, { read }]) => [
      name,
      read(values[names.indexOf(name)] ?? ""),
    ]),
  );
}
