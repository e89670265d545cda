import type { StorageWarning } from "@petstore/core";
import type { DatabaseCheck } from "../commit/transactions.js";
import type { WatchedFiles } from "./database-files.js";
import { DatabaseUnusable } from "./sqlite-error.js";

/** A check that also emits warnings. */
export interface WatchedDatabase extends DatabaseCheck {
  readonly onWarning: (listener: (warning: StorageWarning) => void) => void;
}

/** What a check looks at, and what it does if the database may not be used any more. */
export interface WatchOptions {
  readonly files: WatchedFiles;
  /** Returns why the schema cannot be used any more; `undefined` if it can. */
  readonly newerSchema: () => string | undefined;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** Closes the database; without writing its log back, if another database has taken over its files. */
  readonly release: (areTakenOver: boolean) => Promise<void>;
}

/** The time after which a transaction begins with a check, in milliseconds. */
const INTERVAL = 100;

/** A larger log is reported, and SQLite truncates it once it is written back. In bytes. */
export const LARGE_LOG = 64 * 1_048_576;

const REPLACED = "the database file, its log or its shared memory was removed or replaced";

/**
 * Checks that the files of a database are still those that were opened, and its schema is known. Once a
 * check has failed, no transaction begins: other processes see another database.
 */
export function watchDatabase({ files, newerSchema, now, release }: WatchOptions): WatchedDatabase {
  const listeners: ((warning: StorageWarning) => void)[] = [];
  let unusable: DatabaseUnusable | undefined;
  let checkedAt = -Infinity;
  let isLogLarge = false;

  const warn = (code: string, message: string): void =>
    listeners.forEach((listener) => listener({ code, message }));

  const stop = (code: string, reason: string, areTakenOver: boolean): DatabaseUnusable => {
    unusable = new DatabaseUnusable(`All calls fail until the server is restarted: ${reason}.`);
    warn(code, unusable.message);
    // If it cannot be closed, it stays open, unused.
    release(areTakenOver).catch(() => undefined);
    return unusable;
  };

  const watchLog = (size: number): void => {
    const isLarge = size > LARGE_LOG;
    if (isLarge && !isLogLarge) warn("large_log", largeLog(size));
    isLogLarge = isLarge;
  };

  const checkFiles = (): void => {
    const { areSame, areTakenOver, logSize } = files.look();
    if (!areSame) throw stop("database_replaced", REPLACED, areTakenOver);
    watchLog(logSize);
  };

  const checkSchema = (): void => {
    const newer = newerSchema();
    if (newer !== undefined) throw stop("newer_schema", newer, false);
  };

  return {
    beforeTransaction: () => {
      if (unusable) throw unusable;
      if (now() - checkedAt < INTERVAL) return;
      checkFiles();
      checkSchema();
      checkedAt = now();
    },
    beforeFullCommit: () => {
      if (unusable) throw unusable;
      if (files.mayDiffer()) checkFiles();
      checkSchema();
    },
    onWarning: (listener) => void listeners.push(listener),
  };
}

function largeLog(size: number): string {
  const mebibytes = Math.floor(size / 1_048_576);
  return `The write-ahead log has grown to ${mebibytes} MiB. It grows as long as a reader, such as a backup or another program, does not end its transaction.`;
}
