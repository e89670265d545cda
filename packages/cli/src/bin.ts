import { runCommand } from "./run-command.js";
import { createTerminal } from "./terminal.js";

/** How long to wait until a server's last lines are read, in milliseconds. */
const OUTPUT_TIMEOUT = 1_000;

const args = process.argv.slice(2);
const exitCode = await runCommand(args, createTerminal(process));
// A server that stopped after an unexpected error has set its own exit code.
process.exitCode ??= exitCode;
// An unread log would keep the process alive. Other commands wait until their output is read.
if (args[0] === "serve" || args[0] === "console")
  setTimeout(() => process.exit(), OUTPUT_TIMEOUT).unref();
