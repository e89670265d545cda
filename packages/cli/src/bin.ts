import { processTerminal } from "./process-terminal.js";
import { runCommand } from "./run-command.js";

const args = process.argv.slice(2);
const terminal = processTerminal(process.stdout, process.stderr);
const exitCode = await runCommand(args, terminal);
// A server that ended because of an error has set its own.
process.exitCode ??= exitCode;

/** How long the last lines of a server may take to be read, in milliseconds. */
const LAST_WORDS = 1_000;

// A log whose reader has stopped reading keeps the process alive. An export waits for its reader.
if (args[0] === "serve") setTimeout(() => process.exit(), LAST_WORDS).unref();
