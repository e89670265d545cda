import { csv } from "./csv.js";
import { ndjson } from "./ndjson.js";
import type { PetFormat } from "./pet-format.js";

/** The names of the formats. */
export const formatNames = ["ndjson", "csv"] as const;

/** The name of a format. */
export type FormatName = (typeof formatNames)[number];

const formats: Readonly<Record<FormatName, PetFormat>> = { ndjson, csv };

/** The format of this name; when there is none, the one that the name of the file suggests. */
export function formatOf(name: FormatName | undefined, file: string): PetFormat {
  return formats[name ?? (/\.csv$/i.test(file) ? "csv" : "ndjson")];
}
