import { Command } from "commander";
import type { Streams } from "../../streams.js";
import type { Terminal } from "../../terminal.js";
import { exportCommand } from "./export-command.js";
import { importCommand } from "./import-command.js";

/** `petstore pets …`: pets in bulk, also beside a running server. */
export function petsCommand(
  terminal: Terminal,
  streams: Streams,
  fail: (message: string) => void,
): Command {
  return new Command("pets")
    .description("Import and export pets.")
    .addCommand(importCommand(terminal, streams, fail))
    .addCommand(exportCommand(terminal, streams, fail));
}
