import { describeUnknownError } from "../describe-error.js";
import type { Report, Terminal } from "../terminal.js";

/** How long running requests may take once the server stops, in milliseconds. */
export const DRAIN_TIMEOUT = 10_000;

/** The exit code after an error that nothing caught (EX_SOFTWARE of sysexits.h). */
const EXIT_CODE_OF_DEFECT = 70;

/** How long the last lines of output may take, in milliseconds. */
const OUTPUT_TIMEOUT = 500;

/** Why a server stops: it received a signal, or nothing caught an error. */
export type StopReason = "signal" | "defect";

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP, or at the first error that nothing caught, which is
 * reported with its stack. Later signals have no effect: a terminal may send Ctrl-C twice.
 */
export function untilStopped(terminal: Terminal, report: Report): Promise<StopReason> {
  // By default Node opens its inspector on a port.
  process.on("SIGUSR1", () => undefined);
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (name: NodeJS.Signals): void => {
      if (!isStopping) terminal.out(`petstore received ${name}: finishing running requests`);
      isStopping = true;
      resolve("signal");
    };
    const onDefect = (error: unknown): void => {
      report(`unexpected error: ${describeUnknownError(error)}`);
      resolve("defect");
    };
    process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("SIGHUP", onSignal);
    process.on("uncaughtException", onDefect).on("unhandledRejection", onDefect);
  });
}

/** Ends the process soon, even if its output is a pipe that is never read. */
export function exitSoon(reason: StopReason): void {
  if (reason === "defect") setTimeout(() => process.exit(EXIT_CODE_OF_DEFECT), OUTPUT_TIMEOUT);
  else setTimeout(() => process.exit(), OUTPUT_TIMEOUT).unref();
}
