import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { fromThrowable } from "neverthrow";
import { describeUnknownError } from "./describe-error.js";
import type { ReportError, StopSignal, Terminal } from "./terminal.js";

export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Listens for the signals that stop a command with these arguments. A handler of our own ends the process even if it
 * is the first one of a container, for which the system ignores signals without a handler.
 */
export function listenForStop(args: readonly string[]): StopSignal {
  const controller = new AbortController();
  let patience = patienceOf(args);
  const end = (): void => {
    if (patience < Infinity) for (const name of STOP_SIGNALS) process.off(name, stop);
  };
  // Node's own handler would open its inspector on a port.
  if (patience === Infinity) process.on("SIGUSR1", () => undefined);
  const isImmune = isHangupIgnored();
  const stop = (name: NodeJS.Signals): void => {
    if (name === "SIGHUP" && isImmune) return;
    if (patience === 0) {
      end();
      process.kill(process.pid, name);
      process.exit(128 + constants.signals[name]);
    }
    patience -= 1;
    controller.abort(name);
  };
  for (const name of STOP_SIGNALS) process.on(name, stop);
  return { signal: controller.signal, end };
}

export const isServer = ([name]: readonly string[]): boolean =>
  name === "serve" || name === "console";

/**
 * After how many signals the next one ends the process at once. For a server, later ones have no effect: a terminal may
 * send Ctrl-C twice. What works through something, such as an import or a backup, stops at the first one.
 */
function patienceOf(args: readonly string[]): number {
  if (isServer(args)) return Infinity;
  const worksInOrder = ["pets", "backup", "restore"].includes(args[0] ?? "");
  return worksInOrder || args.includes("--watch") ? 1 : 0;
}

/**
 * Whether SIGHUP was ignored when this process was started. Node resets that, so what is left of it is looked at: the
 * shell's name for the command, the write-only input that nohup sets instead of a terminal, and whether the parent
 * ignores it. A worker leaves SIGHUP to the process that has started it.
 */
function isHangupIgnored(): boolean {
  return (
    cluster.isWorker ||
    /(^|\/)nohup$/.test(process.env["_"] ?? "") ||
    /^flags:.*1$/m.test(readIfThere("/proc/self/fdinfo/0")) ||
    /^SigIgn:.*[13579bdf]$/m.test(readIfThere(`/proc/${process.ppid}/status`))
  );
}

/** Whether a terminal lets this process read: it stops a process in the background that tries to. */
export function isInForeground(): boolean {
  const [, , group, , , foreground] = readIfThere("/proc/self/stat")
    .replace(/.*\) /s, "")
    .split(" ");
  return group === foreground || foreground === "-1";
}

/** Reads a file that only Linux has. */
export function readIfThere(path: string): string {
  return fromThrowable(() => readFileSync(path, "utf8"))().unwrapOr("");
}

/** The exit code after an uncaught error: EX_SOFTWARE of sysexits.h. */
const SOFTWARE_ERROR = 70;

/** Resolves at the first stop signal or uncaught error, which is reported with its stack and sets the exit code. */
export async function untilStopped(
  { signal }: StopSignal,
  terminal: Terminal,
  report: ReportError,
): Promise<void> {
  const reason = await new Promise<string>((resolve) => {
    const stop = (): void => resolve(`received ${String(signal.reason)}`);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    // This event includes unhandled rejections.
    process.on("uncaughtException", (error) => {
      report(`unexpected error: ${describeUnknownError(error)}`);
      process.exitCode = SOFTWARE_ERROR;
      resolve("is stopping after an unexpected error");
    });
  });
  terminal.out(`petstore ${reason}: finishing running requests`);
}
