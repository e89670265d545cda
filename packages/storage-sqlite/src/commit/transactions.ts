import type { SqliteDatabase } from "../database/sqlite-database.js";
import { DatabaseInUse, isIterating, sqliteCode } from "../database/sqlite-error.js";

/**
 * What a commit survives, in SQLite's words (https://sqlite.org/pragma.html#pragma_synchronous).
 * FULL: a loss of power, because each commit syncs the disk. NORMAL: the end of the process.
 */
export type Synchronous = "FULL" | "NORMAL";

/** The transactions of one connection. When the work throws, they are rolled back and throw the same. */
export interface Transactions {
  /** Runs work that holds the write lock from its start. */
  write<T>(synchronous: Synchronous, work: () => T): T;
  /** Runs work that sees the database as it is at one moment; in a host's transaction, as that sees it. */
  read<T>(work: () => T): T;
}

export interface TransactionOptions {
  /** Whether `synchronous` may change between transactions. A host's database stays at FULL. */
  readonly setsSynchronous: boolean;
  /** Runs before a commit at FULL; throws to roll back. */
  readonly beforeFullCommit: () => void;
}

export function createTransactions(
  database: SqliteDatabase,
  { setsSynchronous, beforeFullCommit }: TransactionOptions,
): Transactions {
  const begin = database.prepare("begin");
  const beginImmediate = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  let level: Synchronous | undefined;

  // SQLite runs this pragma when it is prepared, and ignores it inside a transaction.
  const setLevel = (synchronous: Synchronous): void => {
    if (!setsSynchronous || level === synchronous) return;
    database.exec(`pragma synchronous = ${synchronous}`);
    level = synchronous;
  };

  return {
    write: (synchronous, work) => {
      if (database.inTransaction) throw new DatabaseInUse();
      setLevel(synchronous);
      beginImmediate.run([]);
      return orRollBack(database, () => {
        const result = work();
        if (synchronous === "FULL") beforeFullCommit();
        commit.run([]);
        return result;
      });
    },
    read: (work) => {
      if (database.inTransaction) return work();
      try {
        begin.run([]);
      } catch (error) {
        // The rows that the host iterates over hold a snapshot, too.
        if (isIterating(error)) return work();
        throw error;
      }
      return orRollBack(database, () => {
        const result = work();
        commit.run([]);
        return result;
      });
    },
  };
}

function orRollBack<T>(database: SqliteDatabase, action: () => T): T {
  try {
    return action();
  } catch (error) {
    rollBack(database);
    if (sqliteCode(error) === "SQLITE_IOERR_FSYNC") overwriteFailedCommit(database);
    throw error;
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    // After a full disk and the like, SQLite has already rolled back.
    if (database.inTransaction) database.exec("rollback");
  } catch {
    // The error before counts.
  }
}

/**
 * A transaction whose sync failed is rolled back, but it is whole in the log, and a recovery would
 * find it there until the next commit overwrites it. This commit changes nothing, and need not be
 * synced.
 */
function overwriteFailedCommit(database: SqliteDatabase): void {
  try {
    const version = Number(database.pragma("user_version", { simple: true }));
    database.exec(`begin immediate; pragma user_version = ${version}; commit`);
  } catch {
    // Its own sync fails, too.
    rollBack(database);
  }
}
