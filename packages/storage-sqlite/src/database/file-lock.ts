import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

/**
 * Watches the lock that SQLite keeps on a file with a write-ahead log while it is open. The lock belongs to the process
 * (POSIX): it ends as soon as anything in the process closes the file, such as another copy of SQLite or `fs.readFile`.
 * From then on, another process may take itself for the last one, and remove the log with what is written meanwhile.
 */
export function watchLock(path: string) {
  let shown: number | undefined;
  let wasSeen = false;
  const end = (): void => {
    if (shown !== undefined) closeSync(shown);
    shown = undefined;
  };
  return {
    /** Whether this process still has it; `true` where that cannot be told (only Linux shows it). */
    isHeld: (): boolean => {
      if (shown !== undefined && showsLock(shown)) return true;
      end();
      shown = findLock(path);
      wasSeen ||= shown !== undefined;
      return shown !== undefined || !wasSeen;
    },
    end,
  };
}

const OPEN_FILES = "/proc/self/fd";

/** Opens what the system shows of the open file that has the lock (proc_pid_fdinfo(5)); `undefined` if there is none. */
function findLock(path: string): number | undefined {
  for (const number of ifShown(() => readdirSync(OPEN_FILES)) ?? []) {
    // It may have been closed meanwhile, as the folder itself is.
    if (ifShown(() => readlinkSync(`${OPEN_FILES}/${number}`)) !== path) continue;
    const shown = openSync(`/proc/self/fdinfo/${number}`, "r");
    if (showsLock(shown)) return shown;
    closeSync(shown);
  }
  return undefined;
}

function ifShown<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
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
