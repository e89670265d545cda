import { runCommand } from "./run-command.js";
import { createTerminal } from "./terminal.js";

const exitCode = await runCommand(process.argv.slice(2), createTerminal(process));
// An error that nothing caught has set its own.
process.exitCode ??= exitCode;
