import { describeUnknownError } from "./describe-error.js";
import type { ReportError, Terminal } from "./terminal.js";

/** The operator's signal to stop a command that works through something, such as an import or a backup. */
export interface StopSignal {
  /** Aborted at the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  readonly end: () => void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens for the first stop signal. A second one ends the process at once. */
export function listenForStop(): StopSignal {
  const controller = new AbortController();
  const end = (): void => {
    for (const name of SIGNALS) process.off(name, stop);
  };
  const stop = (): void => {
    end();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  return { signal: controller.signal, end };
}

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
    for (const name of SIGNALS) process.on(name, () => resolve(`received ${name}`));
    // This event includes unhandled rejections.
    process.on("uncaughtException", (error) => {
      report(`unexpected error: ${describeUnknownError(error)}`);
      process.exitCode = SOFTWARE_ERROR;
      resolve("is stopping after an unexpected error");
    });
  });
  terminal.out(`petstore ${reason}: finishing running requests`);
}
