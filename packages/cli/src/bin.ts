import { isServer, listenForStop } from "./stop-signal.js";
import { createTerminal } from "./terminal.js";

/** How long to wait until a server's last lines are read, in milliseconds. */
const OUTPUT_TIMEOUT = 1_000;

const args = process.argv.slice(2);
const stop = listenForStop(args);
// eslint-disable-next-line no-restricted-syntax -- A signal may come while the rest is loaded.
const { runCommand } = await import("./run-command.js");
const exitCode = await runCommand(args, createTerminal(process), process, stop);
// A server that stopped after an unexpected error has set its own exit code.
process.exitCode ??= exitCode;
// A server ends even if its output is never read. Other commands wait until theirs is read.
if (isServer(args) || stop.signal.aborted) setTimeout(() => process.exit(), OUTPUT_TIMEOUT).unref();
