import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { codeOf } from "@petstore/core/facts";
import { OpenRefusal } from "./open-storage-error.js";

export function filesOf(database: string): readonly string[] {
  return [database, ...filesBeside(database)];
}

/** The log, its index, and a journal. */
export function filesBeside(database: string): readonly string[] {
  return ["-wal", "-shm", "-journal"].map((suffix) => database + suffix);
}

/**
 * Whether a path names the database or one of the files that SQLite keeps beside it. Follows links, and the files need
 * not exist. Writing to such a path would destroy the database. Throws the error of a disk that fails.
 */
export function isFileOfDatabase(database: string, path: string): boolean {
  // SQLite follows links before it adds a suffix.
  const names = statIfUsable(database) ? [database, realpathSync(database)] : [database];
  const identities = names.flatMap(filesOf).flatMap(identitiesOf);
  return identitiesOf(path).some((identity) => identities.includes(identity));
}

/**
 * Refuses what is no file: opening a pipe would wait for ever. Refuses a database that has another name, a hard link: a
 * process that opens it by that name has a log of its own, and both lose what the other one stores.
 */
export function refuseUnsafe(path: string): void {
  const stats = statAt(path);
  if (stats?.isFile() === false) {
    throw new OpenRefusal("cannot_open", "It is a folder, a pipe or a device, and no file.");
  }
  if (stats === undefined || stats.nlink < 2) return;
  const message = `The file has ${stats.nlink} names (hard links), and another process may use one of the others. Remove them: a restore that was killed leaves one that ends in .replaced and a time.`;
  throw new OpenRefusal("cannot_open", message);
}

/** Whether a file is at the path. Throws when that cannot be told. */
export const exists = (path: string): boolean => statAt(path) !== undefined;

/** Whether a file, and not a folder, a pipe or a device, is at the path. Throws when that cannot be told. */
export const isFile = (path: string): boolean => statAt(path)?.isFile() === true;

/** The path with all links followed, also those to a file that does not exist. Throws when that cannot be told. */
export function targetOf(path: string): string {
  if (exists(path)) return realpathSync(path);
  const link = linkAt(path);
  return link === undefined ? path : targetOf(resolve(realpathSync(dirname(path)), link));
}

/** Returns the target of the link at the path, as the link names it; `undefined` if there is none. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Two paths of one file share an identity: its name in its folder, or its inode. */
function identitiesOf(path: string): readonly string[] {
  const folder = inodeOf(statIfUsable(dirname(path)));
  const name = folder && `${folder}/${basename(path)}`;
  return [name, inodeOf(statIfUsable(path))].filter((identity) => identity !== undefined);
}

export function inodeOf(stats: BigIntStats | undefined): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}

/** `undefined` when no file is at the path. Throws other errors: they may pass, and say nothing about the file. */
export function statAt(path: string, codes: readonly string[] = ["ENOTDIR"]) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (codes.includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** `undefined` also when the path cannot be used. */
function statIfUsable(path: string): BigIntStats | undefined {
  return statAt(path, ["ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG"]);
}

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
