import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { BackupRefusal } from "./backup-error.js";

/** What SQLite adds to the name of a database for the files beside it: a log, its index, a journal. */
const BESIDE = ["-wal", "-shm", "-journal"] as const;

/** Throws when a backup would take the place of the database, or either's logs that of the other. */
export function refuseItself(filename: string, to: string): void {
  // SQLite follows a link before it names the log.
  const database = [filename, realpathSync(filename)].flatMap(filesOf).flatMap(tracesOf);
  const isItself = filesOf(to)
    .flatMap(tracesOf)
    .some((trace) => database.includes(trace));
  if (isItself) throw new BackupRefusal("destination_is_database");
}

/** Throws when there is something that may not be replaced. */
export function refuseToReplace(to: string, overwrite: boolean): void {
  if (overwrite || !existsSync(to)) return;
  throw new BackupRefusal("destination_exists");
}

function filesOf(database: string): readonly string[] {
  return ["", ...BESIDE].map((ending) => database + ending);
}

/** What two names of one file have in common: the place, or what lies there. */
function tracesOf(path: string): readonly string[] {
  const folder = statSync(dirname(path), { bigint: true });
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  const place = `${folder.dev}:${folder.ino}/${basename(path)}`;
  return file === undefined ? [place] : [place, `${file.dev}:${file.ino}`];
}
