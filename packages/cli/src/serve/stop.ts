import { describeUnknownError } from "../describe-error.js";
import type { ReportError, Terminal } from "../terminal.js";

/** How long running requests may take after the server was told to stop, in milliseconds. */
export const DRAIN_TIMEOUT = 10_000;

/** The exit code after an uncaught error: EX_SOFTWARE of sysexits.h. */
const SOFTWARE_ERROR = 70;

/**
 * Resolves when the server has to stop: at the first SIGTERM, SIGINT, SIGHUP (from a closed terminal) or
 * uncaught error. The error is reported with its stack and sets the exit code. Later signals have no
 * effect: a terminal may send Ctrl-C twice.
 */
export async function untilStopped(terminal: Terminal, report: ReportError): Promise<void> {
  // Node's own handler would open its inspector on a port.
  process.on("SIGUSR1", () => undefined);
  const reason = await new Promise<string>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => resolve(`received ${signal}`));
    }
    // This event includes unhandled rejections.
    process.on("uncaughtException", (error) => {
      report(`unexpected error: ${describeUnknownError(error)}`);
      process.exitCode = SOFTWARE_ERROR;
      resolve("is stopping after an unexpected error");
    });
  });
  terminal.out(`petstore ${reason}: finishing running requests`);
}
