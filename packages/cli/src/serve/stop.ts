import { describeUnknownError } from "../describe-error.js";
import type { Report, Terminal } from "../terminal.js";

/** How long running requests may take once the server stops, in milliseconds. */
export const DRAIN_TIMEOUT = 10_000;

/** The exit code after an error that nothing caught: EX_SOFTWARE of sysexits.h. */
const SOFTWARE_ERROR = 70;

/**
 * Resolves when the server has to stop: at the first SIGTERM, SIGINT or SIGHUP, which a closed terminal
 * sends, or at the first error that nothing caught, which is reported with its stack and sets the exit
 * code. Later signals have no effect: a terminal may send Ctrl-C twice.
 */
export async function untilStopped(terminal: Terminal, report: Report): Promise<void> {
  // By default Node opens its inspector on a port.
  process.on("SIGUSR1", () => undefined);
  const reason = await new Promise<string>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => resolve(`got ${signal}`));
    }
    // Also of a promise that was rejected.
    process.on("uncaughtException", (error) => {
      report(`unexpected error: ${describeUnknownError(error)}`);
      process.exitCode = SOFTWARE_ERROR;
      resolve("stops after an unexpected error");
    });
  });
  terminal.out(`petstore ${reason}: finishing running requests`);
}
