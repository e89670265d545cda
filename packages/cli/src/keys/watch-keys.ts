import { setTimeout } from "node:timers/promises";
import { systemClock, type ApiKey, type KeyError } from "@petstore/core";
import type { Result } from "neverthrow";
import { describeStoreError } from "../describe-error.js";
import { listenForStop } from "../stop-signal.js";
import { counted, type Streams } from "../terminal.js";
import { keysOnScreen } from "./render-keys.js";

/** How long a list is shown, in milliseconds. */
const INTERVAL = 2_000;
/** The time, an empty line, the heading of the table, and an empty line at the end. */
const LINES_AROUND = 4;

/**
 * Shows the keys of a store on the whole terminal, again and again, until the first SIGINT, SIGTERM or SIGHUP. If
 * they cannot be read, it shows why, and tries again. Resolves to the keys that it has shown last.
 */
export async function watchKeys(
  read: () => Promise<Result<readonly ApiKey[], KeyError>>,
  stdout: Streams["stdout"],
): Promise<readonly ApiKey[]> {
  const { signal, end } = listenForStop();
  const screen = openScreen(stdout);
  // At once, because a database may take seconds to respond.
  signal.addEventListener("abort", screen.close);
  let shown: readonly ApiKey[] = [];
  const isStopping = (): boolean => signal.aborted;
  while (!isStopping()) {
    const listed = await read();
    if (isStopping()) break;
    const now = systemClock.now();
    const text = listed.match(
      (keys) => {
        shown = keys.slice(0, Math.max(1, screen.rows() - LINES_AROUND));
        const all = counted(keys.length, "key");
        const heading = shown.length < keys.length ? `${all}, ${shown.length} shown` : all;
        return `${heading}\n\n${keysOnScreen(shown, { now, columns: screen.columns() })}`;
      },
      (error) => describeStoreError(error),
    );
    screen.show(`${new Date(now).toISOString().slice(11, 19)} UTC  ${text}`);
    await setTimeout(INTERVAL, undefined, { signal }).catch(() => undefined);
  }
  end();
  return shown;
}

/** The whole terminal, without what it showed before. */
interface Screen {
  readonly rows: () => number;
  readonly columns: () => number;
  /** Replaces what is shown, without a flicker. */
  readonly show: (text: string) => void;
  /** Brings back what the terminal showed before, and the cursor. */
  readonly close: () => void;
}

/** Control sequences of xterm, which all terminals of today know. */
function openScreen(stdout: Streams["stdout"]): Screen {
  stdout.write("\u001B[?1049h\u001B[?25l");
  return {
    rows: () => stdout.rows ?? 24,
    columns: () => stdout.columns ?? 80,
    // From the top left, a line is erased and then written: behind a full line, its last character would be erased.
    show: (text) =>
      void stdout.write(`\u001B[H\u001B[K${text.replaceAll("\n", "\n\u001B[K")}\n\u001B[J`),
    close: () => void stdout.write("\u001B[?25h\u001B[?1049l"),
  };
}
