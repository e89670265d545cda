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
