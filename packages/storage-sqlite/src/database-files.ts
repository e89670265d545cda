import { existsSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname } from "node:path";

/** What SQLite adds to the name of a database for the files beside it: a log, its index, a journal. */
const BESIDE = ["-wal", "-shm", "-journal"] as const;

/** The names of a database and of all that SQLite keeps beside it. */
export function filesOf(database: string): readonly string[] {
  return [database, ...leftoversOf(database)];
}

/** The names of what SQLite keeps beside a database. */
export function leftoversOf(database: string): readonly string[] {
  return BESIDE.map((ending) => database + ending);
}

/**
 * Whether a path is one of the files that a database has or may have: itself, its log, or what else SQLite
 * keeps beside it. By whatever name: what is written there would end the database.
 */
export function isFileOfDatabase(database: string, path: string): boolean {
  // SQLite follows a link before it names the log.
  const names = existsSync(database) ? [database, realpathSync(database)] : [database];
  const traces = names.flatMap(filesOf).flatMap(tracesOf);
  return tracesOf(path).some((trace) => traces.includes(trace));
}

/** What two names of one file have in common: the place, or what lies there. */
function tracesOf(path: string): readonly string[] {
  const folder = lookAt(dirname(path));
  const file = lookAt(path);
  return [
    ...(folder === undefined ? [] : [`${folder.dev}:${folder.ino}/${basename(path)}`]),
    ...(file === undefined ? [] : [`${file.dev}:${file.ino}`]),
  ];
}

/** What lies at a path; `undefined` when nothing does that could be seen. */
function lookAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
