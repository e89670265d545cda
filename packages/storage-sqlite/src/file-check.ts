import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseMoved } from "./failure.js";

/**
 * Checks that a path still names the file that it names now. SQLite goes on writing into a file that was
 * removed or replaced, and what it commits there is lost with the process.
 * @returns the check, which throws `DatabaseMoved`.
 */
export function createFileCheck(filename: string): () => void {
  const path = resolve(filename);
  const opened = identityOf(path);
  return () => {
    if (identityOf(path) !== opened) throw new DatabaseMoved();
  };
}

/** The device and the number of a file there, as text; `undefined` when there is none. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
