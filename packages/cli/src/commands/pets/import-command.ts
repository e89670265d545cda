import { BATCH_LIMIT } from "@petstore/core";
import { Command, Option } from "commander";
import { databaseOption, numberFrom } from "../../options.js";
import { importFile, type ImportOptions } from "../../pets/import-file.js";
import type { Streams } from "../../streams.js";
import type { Terminal } from "../../terminal.js";
import { formatOption } from "./format-option.js";

const HELP = `
Formats:
  ndjson  one JSON object a line, such as {"name":"Rex","categoryId":7,"status":"sold"}
  csv     a heading that names the columns name, categoryId and perhaps status, then one pet a line
What else there is, ids included, is ignored. Blank lines are passed over. Each line that is no pet is
reported by its number. The exit code is 1 unless every line was imported.`;

/** `petstore pets import`; makes the database when there is none yet. */
export function importCommand(
  terminal: Terminal,
  streams: Streams,
  fail: (message: string) => void,
): Command {
  return new Command("import")
    .description("Add the pets of a file to the store, under new ids.")
    .argument("<file>", "the file to read; - for the standard input")
    .addOption(databaseOption())
    .addOption(formatOption())
    .addOption(
      new Option("--batch <n>", "how many lines to import at once: all their pets or none")
        .argParser(numberFrom(1, BATCH_LIMIT))
        .default(BATCH_LIMIT),
    )
    .option(
      "--rejects <file>",
      "keep the lines that are no pets, as they are, in this file; when left out, beside the file that is read: those of pets.csv in pets.rejects.csv",
    )
    .option("--no-rejects", "keep them nowhere")
    .addOption(
      new Option("--from-line <n>", "go on from this line, where an import has stopped")
        .argParser(numberFrom(1))
        .default(1),
    )
    .addHelpText("after", HELP)
    .action(async (file: string, options: ImportOptions) => {
      (await importFile(file, options, terminal, streams)).mapErr(fail);
    });
}
