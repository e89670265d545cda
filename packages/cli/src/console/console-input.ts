import { fstatSync } from "node:fs";
import { isInForeground } from "../stop-signal.js";
import type { Streams } from "../terminal.js";

/** What the operator types, or a program writes, into a console. */
export interface ConsoleInput {
  readonly isTerminal: boolean;
  /** Calls this at each line. Resolves when the input ends. */
  read(onLine: () => void): Promise<void>;
}

/** Opens the input of a console: a terminal, a pipe or a socket. Others, such as files and the null device, are not read. */
export function openInput(stdin: Streams["stdin"]): ConsoleInput | undefined {
  const isTerminal = stdin.isTTY === true;
  if (!isTerminal && !isPipe(stdin)) return undefined;
  const read = async (onLine: () => void): Promise<void> => {
    // A terminal that is gone may fail.
    stdin.on("error", () => undefined);
    stdin.pause().on("data", (part: Buffer) => {
      for (const byte of part) if (byte === LINE_FEED) onLine();
    });
    const adjust = (): void => {
      if (!isTerminal || isInForeground()) stdin.resume();
      else stdin.pause();
    };
    adjust();
    // The shell sends it when it moves the process.
    process.on("SIGCONT", adjust);
    await new Promise((resolve) => stdin.on("end", resolve).on("close", resolve));
    process.off("SIGCONT", adjust);
  };
  return { isTerminal: isTerminal && isInForeground(), read };
}

const LINE_FEED = 10;

function isPipe({ fd }: Streams["stdin"]): boolean {
  if (fd === undefined) return true;
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isSocket();
}
