import { runCommand } from "./run-command.js";
import { createTerminal } from "./terminal.js";

process.exitCode = await runCommand(process.argv.slice(2), createTerminal(process));
