import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { linkAt } from "./database-files.js";

/**
 * Watches the lock that SQLite keeps on a file with a write-ahead log while it is open. The lock belongs to the process
 * (POSIX): it ends as soon as anything in the process closes the file, such as another copy of SQLite or `fs.readFile`.
 * From then on, another process may take itself for the last one, and remove the log with what is written meanwhile.
 */
export function watchLock(path: string) {
  let shown: number | undefined;
  let file: string | undefined;
  const end = (): void => {
    if (shown !== undefined) closeSync(shown);
    shown = undefined;
  };
  return {
    /** Whether this process still has it; `true` where that cannot be told (only Linux shows it). */
    isHeld: (): boolean => {
      if (shown !== undefined && showsLock(shown)) return true;
      end();
      [file, shown] = findLock(path) ?? [file, undefined];
      return shown !== undefined || file === undefined;
    },
    /** Returns the name that the file has now; `undefined` if it was removed, or if that cannot be told. */
    name: (): string | undefined => {
      const name = linkAt(file ?? "");
      return name?.endsWith(" (deleted)") ? undefined : name;
    },
    end,
  };
}

const OPEN_FILES = "/proc/self/fd";

/** Returns the open file that has the lock, and opens what the system shows of it (proc_pid_fdinfo(5)), if there is one. */
function findLock(path: string): [file: string, shown: number] | undefined {
  for (const number of openFiles()) {
    const file = `${OPEN_FILES}/${number}`;
    // It may have been closed meanwhile, as the folder itself is.
    if (linkAt(file) !== path) continue;
    const shown = openSync(`/proc/self/fdinfo/${number}`, "r");
    if (showsLock(shown)) return [file, shown];
    closeSync(shown);
  }
  return undefined;
}

/** Returns the numbers of the open files; none where the system does not show them. */
function openFiles(): readonly string[] {
  try {
    return readdirSync(OPEN_FILES);
  } catch {
    return [];
  }
}

function showsLock(shown: number): boolean {
  const text = Buffer.alloc(1_024);
  try {
    const length = readSync(shown, text, 0, text.length, 0);
    return text.toString("latin1", 0, length).includes("POSIX");
  } catch {
    // The file is closed.
    return false;
  }
}
