import { readlinkSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { codeOf } from "@petstore/core/facts";
import { OpenRefusal } from "./open-storage-error.js";

/** The paths of a database and of the files that SQLite keeps beside it. */
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
  throw new OpenRefusal(
    "cannot_open",
    `The file has ${stats.nlink} names (hard links), and another process may use one of the others. Remove them: a restore that was killed leaves one that ends in .replaced and a time.`,
  );
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
export function linkAt(path: string): string | undefined {
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
