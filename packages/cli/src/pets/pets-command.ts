import { petStatuses } from "@petstore/core";
import { Command, Option } from "commander";
import { databaseOption, example, nonBlank, wholeNumber } from "../options.js";
import type { CommandIO } from "../terminal.js";
import { FORMATS } from "./read-pets.js";
import { exportPets, type ExportOptions } from "./export-pets.js";
import { importPets, type ImportOptions } from "./import-pets.js";

/** `petstore pets`: imports and exports pets, even while servers use the database. */
export function petsCommand(io: CommandIO): Command {
  const importCommand = new Command("import")
    .description("Add the pets in a file to the store, under new ids.")
    .argument("<file>", "the file to read; - for standard input")
    .addOption(databaseOption())
    .addOption(formatOption())
    .option("--rejects <file>", REJECTS_HELP, nonBlank("It must name a file."))
    .option(
      "--from-line <n>",
      "resume at this line, where an earlier import stopped",
      wholeNumber(1),
      1,
    )
    .option("--again", "import lines a second time that an earlier import has added")
    .addHelpText("after", FORMATS_HELP + example("petstore pets import pets.csv"))
    .action(async (file: string, options: ImportOptions) => {
      (await importPets(file, options, io)).mapErr(io.fail);
    });
  const exportCommand = new Command("export")
    .description("Write the pets of the store to a file, in ascending order of id.")
    .argument("[file]", "the file to write; - for standard output", "-")
    .addOption(databaseOption())
    .addOption(formatOption())
    .addOption(new Option("--status <status>", "only pets with this status").choices(petStatuses))
    .option("--force", "replace an existing file")
    .addHelpText("after", example("petstore pets export pets.csv --status sold"))
    .action(async (file: string, options: ExportOptions) => {
      (await exportPets(file, options, io)).mapErr(io.fail);
    });
  return new Command("pets")
    .description("Import and export pets.")
    .addHelpText("after", example("petstore pets import pets.csv"))
    .addCommand(importCommand)
    .addCommand(exportCommand);
}

const REJECTS_HELP =
  "write the lines that cannot be imported, unchanged, to this new file; with --from-line it may exist";

const FORMATS_HELP = `
Formats:
  ndjson  one JSON object per line, such as {"name":"Rex","categoryId":7,"status":"sold"}
  csv     a heading with the columns name, categoryId and optionally status, then one pet per record
Other fields and columns, including ids, are ignored, and so are blank lines. Lines that cannot be
imported are reported with their numbers: the first 20, then a count. The exit code is 0 only if all
lines were imported. The command may be repeated: lines imported in the last 24 hours are skipped.
`;

function formatOption(): Option {
  return new Option(
    "--format <name>",
    "the format of the file (default: csv if its name ends in .csv, otherwise ndjson)",
  ).choices(FORMATS);
}
