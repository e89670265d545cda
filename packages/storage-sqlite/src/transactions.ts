import { DatabaseInUse, sqliteCode } from "./failure.js";
import type { SqliteDatabase } from "./sqlite-database.js";

/** The transactions of one connection. What the work throws undoes it and is thrown on. */
export interface Transactions {
  /** Runs work that holds the write lock from its start: all of it is done or nothing. */
  write<T>(work: () => T): T;
  /** Runs work that sees the database as it is at one moment; inside a transaction, as that sees it. */
  read<T>(work: () => T): T;
}

/** `beforeCommit` may throw, to undo what was written. */
export function createTransactions(
  database: SqliteDatabase,
  beforeCommit: () => void = nothing,
): Transactions {
  const prepare = (source: string): (() => void) => {
    const statement = database.prepare(source);
    return () => {
      statement.run([]);
    };
  };
  const begin = prepare("begin");
  const beginImmediate = prepare("begin immediate");
  const commit = prepare("commit");
  const rollback = prepare("rollback");

  const checkAndCommit = (): void => {
    beforeCommit();
    try {
      commit();
    } catch (error) {
      if (sqliteCode(error) === "SQLITE_IOERR_FSYNC") writeOver(database);
      throw error;
    }
  };
  // A full disk and the like have already undone the transaction.
  const undo = (): void => {
    if (database.inTransaction) rollback();
  };

  return {
    write: (work) => {
      if (database.inTransaction) throw new DatabaseInUse();
      beginImmediate();
      return doOrUndo(work, checkAndCommit, undo);
    },
    read: (work) => {
      if (database.inTransaction) return work();
      begin();
      return doOrUndo(work, commit, undo);
    },
  };
}

/**
 * What could not be synced is undone, but lies whole in the log, where a recovery would find it: until
 * the next commit takes its place. This one changes nothing, and need not be synced either.
 */
function writeOver(database: SqliteDatabase): void {
  try {
    if (database.inTransaction) database.exec("rollback");
    const version = Number(database.pragma("user_version", { simple: true }));
    database.exec(`begin immediate; pragma user_version = ${version}; commit`);
  } catch {
    // Its own sync fails as well.
  }
}

function nothing(): void {
  // There is nothing to check.
}

function doOrUndo<T>(work: () => T, keep: () => void, undo: () => void): T {
  try {
    const result = work();
    keep();
    return result;
  } catch (error) {
    try {
      undo();
    } catch {
      // What failed first is what happened.
    }
    throw error;
  }
}
