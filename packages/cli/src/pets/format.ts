import { Option } from "commander";

/** The formats of a file of pets. */
const FORMATS = ["ndjson", "csv"] as const;

/** The format of a file of pets. */
export type Format = (typeof FORMATS)[number];

/** The option `--format` of an import and an export. */
export function formatOption(): Option {
  return new Option(
    "--format <name>",
    "the format of the file (default: csv if its name ends in .csv, otherwise ndjson)",
  ).choices(FORMATS);
}

/** Returns the given format, or the format that the name of the file implies. */
export function formatOf(chosen: Format | undefined, path: string): Format {
  return chosen ?? (/\.csv$/i.test(path) ? "csv" : "ndjson");
}
