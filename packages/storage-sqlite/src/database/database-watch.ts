import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { StorageWarning } from "@petstore/core/storage";
import { createWarnings, type RetrySettings } from "@petstore/storage-sql";
import { inodeOf, statAt, watchLock } from "./database-files.js";
import { DatabaseUnusable } from "./errors.js";

export type WatchedFiles = ReturnType<typeof watchFiles>;

/** Milliseconds that a folder must be unchanged until its time is trusted: changes in one tick have the same time. */
const SETTLED = 100;

/**
 * Watches the database file and the files with these suffixes beside it, the log first. Remembers the
 * database file now, and the files beside it at the first look. When one of them is removed or replaced,
 * SQLite continues to use the old file, and other processes use the new one.
 */
export function watchFiles(filename: string, suffixes: readonly string[], now: () => number) {
  const path = resolve(filename);
  const database = inodeOf(statAt(path));
  // SQLite follows links before it adds a suffix.
  const target = realpathSync(path);
  const beside = suffixes.map((suffix) => target + suffix);
  const folders = [...new Set([dirname(path), dirname(target)])];
  let remembered: readonly (string | undefined)[] | undefined;
  let changedAt: bigint | undefined;
  let foldersAtLook = { state: "", seenAt: now(), isSettled: false };
  const lock = watchLock(target);

  /** Whether no other process has written to the database since its path no longer names it. */
  const isUnused = (isReplaced: boolean): boolean => {
    const name = lock.name();
    // A file that was replaced has no name left.
    if (name === undefined) return isReplaced;
    return statAt(name)?.mtimeNs === changedAt && statAt(`${name}-wal`) === undefined;
  };
  return {
    inode: database,
    look: () => {
      const state = stateOf(folders);
      const seenAt = state === foldersAtLook.state ? foldersAtLook.seenAt : now();
      const isSettled = now() - seenAt >= SETTLED;
      const stats = beside.map((file) => statAt(file));
      const inodes = stats.map(inodeOf);
      const main = statAt(path);
      // A look that throws is no look.
      foldersAtLook = { state, seenAt, isSettled };
      remembered ??= inodes;
      const expected = remembered;
      const changed = inodes.filter((inode, index) => inode !== expected[index]);
      const isDatabase = inodeOf(main) === database;
      const areSame = isDatabase && changed.length === 0;
      if (areSame) changedAt = main?.mtimeNs;
      const isLogOwn = inodes[0] !== undefined && inodes[0] === expected[0];
      const isNewBeside = changed.some((inode) => inode !== undefined);
      const isWritten = main?.mtimeNs !== changedAt;
      return {
        /** Whether each path still names the file that it named at first. */
        areSame,
        /**
         * Whether another process may have opened the database without the files that this one uses: new files are
         * beside it, or they are gone and the database has changed since the last look.
         */
        areTakenOver: isDatabase && (isNewBeside || isWritten),
        /**
         * Whether the database file was renamed or replaced without its log, and no other process has written to it since.
         * `false` for a removed file: after a move to another file system, the copy there needs the log.
         */
        isLogLeft: !isDatabase && isLogOwn && isUnused(main !== undefined),
        /** In bytes. */
        logSize: Number(stats[0]?.size ?? 0),
      };
    },
    /**
     * Whether a file may have been added, removed or renamed beside the database since the last look. This looks at
     * the folder only. A look at the log itself makes its next sync more expensive, because Linux then records the
     * exact time of the next write.
     */
    mayDiffer: (): boolean => !foldersAtLook.isSettled || stateOf(folders) !== foldersAtLook.state,
    lock,
  };
}

/** A database in memory has no files. */
export const NO_FILES: WatchedFiles = {
  inode: undefined,
  look: () => ({ areSame: true, areTakenOver: false, isLogLeft: false, logSize: 0 }),
  mayDiffer: () => false,
  lock: { isHeld: () => true, name: () => undefined, end: () => undefined },
};

/** A text that changes when a folder is another one, or a file in it is added, removed or renamed. */
function stateOf(folders: readonly string[]): string {
  const stats = folders.map((folder) => statAt(folder));
  return stats.map((found) => `${String(inodeOf(found))}:${found?.mtimeNs}`).join();
}

export interface WatchOptions extends Pick<RetrySettings, "now"> {
  readonly files: WatchedFiles;
  /** Returns why the schema cannot be used any more, if so. */
  readonly checkSchema: () => { readonly problem: StorageWarning | undefined };
  readonly release: () => Promise<void>;
}

/** The time after which a transaction begins with a check, in milliseconds. */
const INTERVAL = 100;

/** A larger log is reported, and SQLite truncates it once it is written back. In bytes. */
export const LARGE_LOG = 64 * 1_048_576;

/** Checks that the files of a database are still those that were opened, and that its schema is known. */
export function watchDatabase({ files, checkSchema, now, release }: WatchOptions) {
  const { onWarning, warn } = createWarnings();
  let unusable: DatabaseUnusable | undefined;
  let checkedAt = -Infinity;
  let isLarge = false;

  const refuse = (problem: StorageWarning | undefined): void => {
    if (problem === undefined) return;
    const message = `All calls fail until the server is restarted: ${problem.message}.`;
    unusable = new DatabaseUnusable(message);
    warn({ code: problem.code, message });
    // If it cannot be closed, it stays open, unused.
    release().catch(() => undefined);
    throw unusable;
  };
  const checkFiles = (): void => {
    const { areSame, logSize } = files.look();
    if (!areSame) refuse(REPLACED);
    const wasLarge = isLarge;
    isLarge = logSize > LARGE_LOG;
    if (isLarge && !wasLarge) warn({ code: "large_log", message: largeLog(logSize) });
  };

  return {
    beforeTransaction: (): void => {
      if (unusable) throw unusable;
      if (now() - checkedAt < INTERVAL) return;
      if (!files.lock.isHeld()) refuse(UNLOCKED);
      checkFiles();
      refuse(checkSchema().problem);
      checkedAt = now();
    },
    beforeFullCommit: (): void => {
      if (unusable) throw unusable;
      if (!files.lock.isHeld()) refuse(UNLOCKED);
      if (files.mayDiffer()) checkFiles();
      refuse(checkSchema().problem);
    },
    onWarning,
  };
}

const REPLACED: StorageWarning = {
  code: "database_replaced",
  message: "the database file, its log or its shared memory was removed or replaced",
};

const UNLOCKED: StorageWarning = {
  code: "lock_lost",
  message:
    "another part of this process closed the database file, which ended the lock on it. Open it only with the copy of better-sqlite3 that the storage uses, not with another one, node:sqlite or fs.readFile",
};

function largeLog(size: number): string {
  const mebibytes = Math.floor(size / 1_048_576);
  return `The write-ahead log has grown to ${mebibytes} MiB. It grows as long as a reader, such as a backup or another program, does not end its transaction.`;
}
