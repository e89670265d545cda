import { runCommand } from "./run-command.js";
import { createTerminal } from "./terminal.js";

/** How long the last lines of a server may take to be read, in milliseconds. */
const OUTPUT_TIMEOUT = 1_000;

const args = process.argv.slice(2);
const exitCode = await runCommand(args, createTerminal(process));
// A server that stopped because of an unexpected error has set its own.
process.exitCode ??= exitCode;
// A log that is never read would keep the process alive. Other commands wait for their readers.
if (args[0] === "serve") setTimeout(() => process.exit(), OUTPUT_TIMEOUT).unref();
