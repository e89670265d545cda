import { existsSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, resolve } from "node:path";

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

/** Looks at the files of an open database. */
export interface WatchedFiles {
  look(): FilesFound;
  /**
   * Whether a file may have been added, removed or renamed beside the database since the last look. This looks at
   * the folder only. A look at the log itself makes its next sync more expensive, because Linux then records the
   * exact time of the next write.
   */
  mayDiffer(): boolean;
}

/** What a look at the files of an open database finds. */
export interface FilesFound {
  /** Whether each path still names the file that it named at first. */
  readonly areSame: boolean;
  /** Whether new files are beside the same database: another process has opened it since. */
  readonly areTakenOver: boolean;
  /** The size of the log in bytes. */
  readonly logSize: number;
}

/**
 * How long a folder must be unchanged before its time is trusted, in milliseconds: two changes within one tick of the
 * file system's clock have the same time.
 */
const SETTLED = 100;

/**
 * Watches the database file and the files with these suffixes beside it, the log first. Remembers the
 * database file now, and the files beside it at the first look. When one of them is removed or replaced,
 * SQLite continues to use the old file, and other processes use the new one.
 *
 * @param now milliseconds of a clock that is never set back
 */
export function watchFiles(
  filename: string,
  suffixes: readonly string[],
  now: () => number,
): WatchedFiles {
  const path = resolve(filename);
  const database = inodeOf(statAt(path));
  // SQLite follows links before it adds a suffix.
  const target = realpathSync(path);
  const beside = suffixes.map((suffix) => target + suffix);
  const folders = [...new Set([dirname(path), dirname(target)])];
  let remembered: readonly (string | undefined)[] | undefined;
  let foldersAtLook = { state: "", seenAt: now(), isSettled: false };

  const lookAtFolders = (): void => {
    const state = stateOf(folders);
    const seenAt = state === foldersAtLook.state ? foldersAtLook.seenAt : now();
    foldersAtLook = { state, seenAt, isSettled: now() - seenAt >= SETTLED };
  };
  return {
    look: () => {
      lookAtFolders();
      const stats = beside.map(statAt);
      const inodes = stats.map(inodeOf);
      const expected = (remembered ??= inodes);
      const changed = inodes.filter((inode, index) => inode !== expected[index]);
      const isDatabase = inodeOf(statAt(path)) === database;
      return {
        areSame: isDatabase && changed.length === 0,
        areTakenOver: isDatabase && changed.some((inode) => inode !== undefined),
        logSize: Number(stats[0]?.size ?? 0),
      };
    },
    mayDiffer: () => !foldersAtLook.isSettled || stateOf(folders) !== foldersAtLook.state,
  };
}

/** A text that changes when a folder is another one, or a file in it is added, removed or renamed. */
function stateOf(folders: readonly string[]): string {
  const stats = folders.map(statAt);
  return stats.map((found) => `${String(inodeOf(found))}:${found?.mtimeNs}`).join();
}

/** Two paths of one file share an identity: its name in its folder, or its inode. */
function identitiesOf(path: string): readonly string[] {
  const folder = inodeOf(statAt(dirname(path)));
  const inode = inodeOf(statAt(path));
  return [
    ...(folder === undefined ? [] : [`${folder}/${basename(path)}`]),
    ...(inode === undefined ? [] : [inode]),
  ];
}

/** The device and inode of a file. */
function inodeOf(stats: BigIntStats | undefined): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}

/** `undefined` when no file is at the path, or access is denied. */
function statAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
