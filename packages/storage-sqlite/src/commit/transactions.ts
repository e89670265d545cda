import { markLog } from "../database/database-mark.js";
import type { SqliteDatabase } from "../database/driver.js";
import { DatabaseInUse, isBusy, isIterating, MayBeStored, sqliteCode } from "../database/errors.js";

/**
 * What a commit survives (https://sqlite.org/pragma.html#pragma_synchronous). `FULL`: a power loss,
 * because each commit syncs the disk. `NORMAL`: the end of the process.
 */
export type Synchronous = "FULL" | "NORMAL";

/** The transactions of one connection. If the work throws, the transaction is rolled back and the error rethrown. */
export interface Transactions {
  /**
   * Runs work in a transaction that holds the write lock from its beginning. A transaction at `FULL` changes
   * `version`. One at `NORMAL` does not: its work has to remember what it changes.
   */
  write<T>(synchronous: Synchronous, work: () => T): T;
  /** Whether work of `write` runs at the moment. What it reads then is read in its transaction. */
  isWriting(): boolean;
  /** Runs work that reads one snapshot of the database: that of the transaction around it, if there is one. */
  read<T>(work: () => T): T;
  /**
   * A number that changes when the database may have changed: by another connection, by a transaction at `FULL`
   * or by a rollback. What the running transaction changes counts only after its end.
   */
  version(): number;
}

/** What happens around each transaction. */
export interface TransactionOptions {
  /** Whether the host uses the connection, too. Then it stays at FULL, and anything may change between two transactions. */
  readonly isShared: boolean;
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

/** Prepares the transactions of a connection. */
export function createTransactions(
  database: SqliteDatabase,
  { isShared, check, afterCommit }: TransactionOptions,
): Transactions {
  const begin = database.prepare("begin");
  const beginImmediate = database.prepare("begin immediate");
  const writing = createScope();
  const changes = createChanges(database, isShared);
  const commitOrRollBack = createCommitOrRollBack(database, changes.count);

  return {
    write: (synchronous, work) => {
      check.beforeTransaction();
      if (database.inTransaction) throw new DatabaseInUse();
      // Not prepared: SQLite runs this pragma when it is prepared, and ignores it inside a transaction.
      if (!isShared) database.exec(`pragma main.synchronous = ${synchronous}`);
      beginImmediate.run([]);
      const result = commitOrRollBack(() => {
        // Until the commit, no other connection can change the database, so one look is enough.
        changes.refresh();
        const value = writing.run(work);
        if (synchronous === "FULL") check.beforeFullCommit();
        return value;
      });
      if (synchronous === "FULL") changes.count();
      afterCommit();
      return result;
    },
    isWriting: writing.isRunning,
    read: (work) => {
      check.beforeTransaction();
      if (database.inTransaction) return work();
      try {
        begin.run([]);
      } catch (error) {
        // A host that iterates over rows holds a snapshot, too.
        if (isIterating(error)) return work();
        throw error;
      }
      return commitOrRollBack(work);
    },
    version: () => (writing.isRunning() ? changes.counted() : changes.refresh()),
  };
}

/** Runs work, and knows whether it runs. */
function createScope() {
  let isRunning = false;
  return {
    isRunning: () => isRunning,
    run: <T>(work: () => T): T => {
      isRunning = true;
      try {
        return work();
      } finally {
        isRunning = false;
      }
    },
  };
}

/**
 * Counts the changes of a database that this connection knows of. SQLite's `data_version` changes when another
 * connection commits (https://sqlite.org/pragma.html#pragma_data_version).
 */
function createChanges(database: SqliteDatabase, isShared: boolean) {
  const dataVersion = database.prepare<readonly [number]>("pragma main.data_version");
  dataVersion.raw(true);
  let lastSeen: number | undefined;
  let counted = 0;
  const count = (): void => {
    counted += 1;
  };
  return {
    counted: () => counted,
    count,
    /** Counts what others have committed, and returns all that is counted. */
    refresh: (): number => {
      if (isShared) count();
      else {
        const seen = dataVersion.get([])?.[0];
        if (seen !== lastSeen) count();
        lastSeen = seen;
      }
      return counted;
    },
  };
}

/** Creates the function that does the work of a transaction that has begun, and commits it or rolls it back. */
function createCommitOrRollBack(
  database: SqliteDatabase,
  onRollBack: () => void,
): <T>(work: () => T) => T {
  const commit = database.prepare("commit");
  return (work) => {
    let isCommitting = false;
    try {
      const result = work();
      isCommitting = true;
      commit.run([]);
      return result;
    } catch (error) {
      onRollBack();
      rollBack(database);
      // A lock is missing before anything is written.
      if (!isCommitting || isBusy(error) || overwriteFailedCommit(database)) throw error;
      throw new MayBeStored(error);
    }
  };
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
