import { createWarnings, type Warnings } from "@petstore/storage-sql";
import type { DatabaseCheck } from "../commit/transactions.js";
import type { FilesFound, WatchedFiles } from "./database-files.js";
import { DatabaseUnusable } from "./errors.js";

/** A check that also emits warnings. */
export type WatchedDatabase = DatabaseCheck & Pick<Warnings, "onWarning">;

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

/**
 * Checks that the files of a database are still those that were opened, and its schema is known. Once a
 * check has failed, no transaction begins: other processes see another database.
 */
export function watchDatabase({ files, newerSchema, now, release }: WatchOptions): WatchedDatabase {
  const { onWarning, warn } = createWarnings();
  const watchLog = createLogWatch(warn);
  let unusable: DatabaseUnusable | undefined;
  let checkedAt = -Infinity;

  const refuse = (problem: Problem | undefined): void => {
    if (problem === undefined) return;
    unusable = new DatabaseUnusable(
      `All calls fail until the server is restarted: ${problem.reason}.`,
    );
    warn({ code: problem.code, message: unusable.message });
    // If it cannot be closed, it stays open, unused.
    release(problem.areTakenOver).catch(() => undefined);
    throw unusable;
  };
  const checkFiles = (): void => {
    const found = files.look();
    refuse(problemOfFiles(found));
    watchLog(found.logSize);
  };
  const checkSchema = (): void => refuse(problemOfSchema(newerSchema()));

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
    onWarning,
  };
}

/** Why a database may not be used any more. */
interface Problem {
  /** The code of the warning. */
  readonly code: string;
  readonly reason: string;
  /** Whether another database has taken over its files. */
  readonly areTakenOver: boolean;
}

function problemOfFiles({ areSame, areTakenOver }: FilesFound): Problem | undefined {
  if (areSame) return undefined;
  const reason = "the database file, its log or its shared memory was removed or replaced";
  return { code: "database_replaced", reason, areTakenOver };
}

function problemOfSchema(reason: string | undefined): Problem | undefined {
  if (reason === undefined) return undefined;
  return { code: "schema_too_new", reason, areTakenOver: false };
}

/** Creates the function that warns when the log has become large. It is called with the size of the log in bytes. */
function createLogWatch(warn: Warnings["warn"]): (size: number) => void {
  let isLarge = false;
  return (size) => {
    const wasLarge = isLarge;
    isLarge = size > LARGE_LOG;
    if (isLarge && !wasLarge) warn({ code: "large_log", message: largeLog(size) });
  };
}

function largeLog(size: number): string {
  const mebibytes = Math.floor(size / 1_048_576);
  return `The write-ahead log has grown to ${mebibytes} MiB. It grows as long as a reader, such as a backup or another program, does not end its transaction.`;
}
