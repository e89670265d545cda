import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseMoved } from "./failure.js";

/**
 * Checks that a path still names the file that it names now, and that the file has the log that it had when
 * this was checked for the first time. SQLite goes on writing into a file that was removed or replaced, and
 * what it commits there is lost with the process.
 * @returns the check, which throws `DatabaseMoved`.
 */
export function createFileCheck(filename: string): () => void {
  const path = resolve(filename);
  const opened = identityOf(path);
  // SQLite follows a link before it names the log.
  const log = `${realpathSync(path)}-wal`;
  let openedLog: string | undefined;
  return () => {
    openedLog ??= identityOf(log);
    if (identityOf(path) !== opened || identityOf(log) !== openedLog) throw new DatabaseMoved();
  };
}

/** The device and the number of a file there, as text; `undefined` when there is none. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
