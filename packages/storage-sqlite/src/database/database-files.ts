import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { DatabaseMoved } from "./sqlite-error.js";

/** The suffixes of the files that SQLite keeps beside a database: the log, its index, a journal. */
const SUFFIXES = ["-wal", "-shm", "-journal"] as const;

/** The paths of a database and of the files that SQLite keeps beside it. */
export function filesOf(database: string): readonly string[] {
  return [database, ...filesBeside(database)];
}

/** The paths of the files that SQLite keeps beside a database. */
export function filesBeside(database: string): readonly string[] {
  return SUFFIXES.map((suffix) => database + suffix);
}

/**
 * Whether a path names the database or one of the files that SQLite keeps beside it. Follows links, and
 * the files need not exist. Writing to such a path would destroy the database.
 */
export function isFileOfDatabase(database: string, path: string): boolean {
  // SQLite follows links before it adds a suffix.
  const names = existsSync(database) ? [database, realpathSync(database)] : [database];
  const identities = names.flatMap(filesOf).flatMap(identitiesOf);
  return identitiesOf(path).some((identity) => identities.includes(identity));
}

/**
 * Returns a check that throws `DatabaseMoved` when the path no longer names the file that it names
 * now, or when the log is not the one that the first check found. SQLite
 * would continue to write to the removed or replaced files, and those commits would be lost with the
 * process.
 */
export function createFileCheck(filename: string): () => void {
  const path = resolve(filename);
  const database = inodeAt(path);
  const logPath = `${realpathSync(path)}-wal`;
  let log: string | undefined;
  return () => {
    log ??= inodeAt(logPath);
    if (inodeAt(path) !== database || inodeAt(logPath) !== log) throw new DatabaseMoved();
  };
}

/** Two paths of one file share an identity: its name in its folder, or its inode. */
function identitiesOf(path: string): readonly string[] {
  const folder = inodeAt(dirname(path));
  const inode = inodeAt(path);
  return [
    ...(folder === undefined ? [] : [`${folder}/${basename(path)}`]),
    ...(inode === undefined ? [] : [inode]),
  ];
}

/** The device and inode at a path; `undefined` when no file is there or access is denied. */
function inodeAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
