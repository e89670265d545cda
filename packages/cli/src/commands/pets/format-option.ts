import { Option } from "commander";
import { formatNames } from "../../pets/pet-formats.js";

/** How a file of pets is written. */
export function formatOption(): Option {
  return new Option(
    "--format <name>",
    "how the file is written (default: csv when its name ends in .csv, else ndjson)",
  ).choices(formatNames);
}
