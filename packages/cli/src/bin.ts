import { processTerminal } from "./process-terminal.js";
import { runCommand } from "./run-command.js";

const terminal = processTerminal(process.stdout, process.stderr);
process.exitCode = await runCommand(process.argv.slice(2), terminal);
