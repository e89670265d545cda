import { petStatuses } from "@petstore/core";
import { Command, Option } from "commander";
import { databaseOption } from "../../options.js";
import { exportFile, type ExportOptions } from "../../pets/export-file.js";
import type { Streams } from "../../streams.js";
import type { Terminal } from "../../terminal.js";
import { formatOption } from "./format-option.js";

/** `petstore pets export`. */
export function exportCommand(
  terminal: Terminal,
  streams: Streams,
  fail: (message: string) => void,
): Command {
  return new Command("export")
    .description("Write the pets of the store into a file, in ascending order of id.")
    .argument("[file]", "the file to write; the standard output when left out, or -", "-")
    .addOption(databaseOption())
    .addOption(formatOption())
    .addOption(new Option("--status <status>", "only these pets").choices(petStatuses))
    .option("--force", "write over a file that is there already")
    .action(async (file: string, options: ExportOptions) => {
      (await exportFile(file, options, terminal, streams)).mapErr(fail);
    });
}
