import { markLog } from "../database/database-mark.js";
import type { SqliteDatabase, SqliteStatement } from "../database/driver.js";
import { DatabaseInUse, isIterating, MayBeStored, sqliteCode } from "../database/errors.js";

/**
 * What a commit survives (https://sqlite.org/pragma.html#pragma_synchronous). `FULL`: a power loss,
 * because each commit syncs the disk. `NORMAL`: the end of the process.
 */
export type Synchronous = "FULL" | "NORMAL";

export interface TransactionOptions {
  /** Whether the host uses the connection, too. Then it stays at FULL, and anything may change between two transactions. */
  readonly isShared: boolean;
  /**
   * The highest level at which a commit has marked the log. The first commit marks it, and so does the first at FULL:
   * that syncs what a killed process may have left in the log, even if the commit itself changes nothing.
   */
  readonly marked: Synchronous | undefined;
  readonly check: DatabaseCheck;
  readonly afterCommit: () => void;
}

/** Checks that the database may still be used. After it has thrown once, it always throws. */
export interface DatabaseCheck {
  /** Runs before each transaction. Checks only if the last check is a while ago. */
  beforeTransaction(): void;
  /** Runs before each commit at FULL. Throws to roll back. */
  beforeFullCommit(): void;
}

/** Creates the transactions of one connection. If the work throws, one is rolled back and the error rethrown. */
export function createTransactions(database: SqliteDatabase, options: TransactionOptions) {
  const { isShared, check } = options;
  const begin = database.prepare("begin");
  const commit = database.prepare("commit");
  const dataVersion = database.prepare<readonly [number]>("pragma main.data_version");
  dataVersion.raw(true);
  const { write, running } = createWrites(database, commit, options);

  return {
    write,
    /** Runs work that reads one snapshot of the database: that of the transaction around it, if there is one. */
    read: <T>(work: () => T): T => {
      check.beforeTransaction();
      if (database.inTransaction) return work();
      try {
        begin.run([]);
      } catch (error) {
        // A host that iterates over rows holds a snapshot, too.
        if (isIterating(error)) return work();
        throw error;
      }
      return commitOrRollBack(database, commit, work);
    },
    isWriting: () => running() !== undefined,
    /** A number that changes when another connection commits (`data_version`); `undefined` if that cannot be told. */
    version: (): number | undefined => {
      const known = running();
      if (isShared || known?.version !== undefined) return known?.version;
      try {
        check.beforeTransaction();
        const version = dataVersion.get([])?.[0];
        if (known) known.version = version;
        return version;
      } catch {
        return undefined;
      }
    },
  };
}

function createWrites(
  database: SqliteDatabase,
  commit: SqliteStatement<unknown>,
  { isShared, marked, check, afterCommit }: TransactionOptions,
) {
  const beginImmediate = database.prepare("begin immediate");
  // Not prepared: SQLite runs this pragma when it is prepared, and refuses it inside a transaction.
  const setSynchronous = (synchronous: Synchronous): void => {
    if (!isShared && !database.inTransaction)
      database.exec(`pragma main.synchronous = ${synchronous}`);
  };
  /** The version of the database, once it is read, while work runs: no other connection can commit meanwhile. */
  let running: { version?: number | undefined } | undefined;
  // The level between two full commits.
  setSynchronous("NORMAL");
  return {
    /** Runs work in a transaction that holds the write lock from its beginning. */
    write: <T>(synchronous: Synchronous, work: () => T): T => {
      check.beforeTransaction();
      if (database.inTransaction) throw new DatabaseInUse();
      const isFull = synchronous === "FULL";
      if (isFull) setSynchronous("FULL");
      let result: T;
      try {
        beginImmediate.run([]);
        running = {};
        result = commitOrRollBack(database, commit, () => {
          const value = work();
          if (isFull) check.beforeFullCommit();
          if (marked !== "FULL" && marked !== synchronous) markLog(database);
          return value;
        });
        if (marked !== "FULL") marked = synchronous;
      } finally {
        running = undefined;
        if (isFull) setSynchronous("NORMAL");
      }
      afterCommit();
      return result;
    },
    running: () => running,
  };
}

function commitOrRollBack<T>(
  database: SqliteDatabase,
  commit: SqliteStatement<unknown>,
  work: () => T,
): T {
  let isCommitting = false;
  try {
    const result = work();
    isCommitting = true;
    commit.run([]);
    return result;
  } catch (error) {
    rollBack(database);
    if (!isCommitting || overwriteFailedCommit(database)) throw error;
    throw new MayBeStored(error);
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    // After a full disk and the like, SQLite has already rolled back.
    if (database.inTransaction) database.exec("rollback");
  } catch {
    // The first error is the one to report.
  }
}

/**
 * A transaction whose commit failed is rolled back, but the log may hold all of it: a recovery would apply it until the
 * next commit overwrites it. This commit changes nothing. Returns whether it has overwritten the log: also if only the
 * index of the log could not grow or be mapped by the commit, for which SQLite writes and syncs the log before.
 */
function overwriteFailedCommit(database: SqliteDatabase): boolean {
  let isCommitting = false;
  try {
    database.exec("begin immediate");
    markLog(database);
    isCommitting = true;
    database.exec("commit");
    return true;
  } catch (error) {
    rollBack(database);
    return isCommitting && /^SQLITE_IOERR_SHM(?:SIZE|MAP)$/.test(sqliteCode(error));
  }
}
