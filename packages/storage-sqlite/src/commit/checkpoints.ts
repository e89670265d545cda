import { Worker } from "node:worker_threads";
import type BetterSqlite3 from "better-sqlite3";
import { THREAD, type ThreadData } from "./checkpoint-thread.js";
import { markLog } from "../database/database-mark.js";
import type { DatabaseConstructor, SqliteDatabase } from "../database/driver.js";
import { isBusy, sqliteCode } from "../database/errors.js";

/** A commit changes one page or more, so the length of the log is looked at several times before it is long. */
const COMMITS_PER_LOOK = 200;

/** Without a thread, SQLite writes the log back when it has this many pages: its own default. */
const SQLITES_LOG = 1_000;

/** The thread writes the log back when it has this many pages. SQLite syncs inside the commit that restarts it. */
const LONG_LOG = 4 * SQLITES_LOG;

/** If the thread does not keep up, SQLite writes the log back when it has this many pages. */
const LONGEST_LOG = 4 * LONG_LOG;

/** How long the end of the process waits for the thread, which may be writing to a slow disk, in milliseconds. */
const END_TIMEOUT = 10_000;

/** The lowest priority. On Linux a thread can have its own; elsewhere it would be that of the whole process. */
const NICENESS = process.platform === "linux" ? 19 : 0;

/**
 * Creates what writes the log back to the database file, nearly all of it in a thread. SQLite does it inside a commit,
 * where its syncs block the event loop for milliseconds.
 * @param driver the URL of the driver; without one, and where no thread can be started, SQLite goes on to
 *   write the log back inside commits.
 * @param areOurs whether the files are known to be still those that were opened
 */
export function createCheckpoints(
  database: SqliteDatabase,
  filename: string,
  driver: string | undefined,
  areOurs: () => boolean,
) {
  let commits = 0;
  let usable = driver;
  let thread: Thread | undefined;

  const giveUp = (): void => {
    usable = undefined;
    setLongestLog(database, SQLITES_LOG);
  };
  const events = {
    ready: () => setLongestLog(database, LONGEST_LOG),
    written: () => writeBackRest(database, areOurs),
    failed: giveUp,
  };
  return {
    /** To be called after each commit. Starts the thread if there are enough of them. */
    afterCommit: (): void => {
      commits += 1;
      if (usable === undefined || commits % COMMITS_PER_LOOK > 0) return;
      try {
        thread ??= startThread(usable, filename, events);
        if (isLogLong(database) && areOurs()) thread.writeBack();
      } catch {
        giveUp();
      }
    },
    /** Resolves when the thread has closed its connection and ended. */
    stop: async (): Promise<void> => {
      usable = undefined;
      await thread?.stop();
    },
    /** Blocks until the thread has closed its connection, because the end of the process cannot wait for a promise. */
    stopNow: (): void => thread?.stopNow(),
  };
}

type Thread = ReturnType<typeof startThread>;

/** The thread sends `written` when it has written back as much of the log as it could. */
type ThreadEvents = Readonly<Record<"ready" | "written" | "failed", () => void>>;

function startThread(driver: string, filename: string, events: ThreadEvents) {
  const hasEnded = new Int32Array(new SharedArrayBuffer(4));
  const settings = { longLog: LONG_LOG, niceness: NICENESS, hasEnded };
  const workerData: ThreadData = { driver, filename, ...settings };
  const worker = new Worker(THREAD, { eval: true, workerData, execArgv: [] });
  const ended = new Promise<void>((resolve) => {
    const heard = { ...events, ended: resolve };
    worker.on("message", (event: keyof typeof heard) => heard[event]());
    worker.once("error", events.failed).once("exit", () => {
      Atomics.store(hasEnded, 0, 1);
      resolve();
    });
  });
  // After the listeners, which would keep the process alive.
  worker.unref();
  return {
    writeBack: () => worker.postMessage("write back"),
    stop: async () => {
      worker.ref();
      worker.postMessage("end");
      await ended;
      await worker.terminate();
    },
    stopNow: () => {
      worker.postMessage("end");
      Atomics.wait(hasEnded, 0, 0, END_TIMEOUT);
    },
  };
}

/** If it fails, as while another connection writes, the thread is woken again after the next commits. */
function writeBackRest(database: SqliteDatabase, areOurs: () => boolean): void {
  try {
    if (!database.open || !areOurs()) return;
    database.pragma("main.wal_checkpoint(full)");
    // The next commit begins the log anew.
    markLog(database);
  } catch {
    // What it wrote is still in the log.
  }
}

/** Sets at how many pages SQLite writes the log back inside a commit. */
function setLongestLog(database: SqliteDatabase, pages: number): void {
  if (database.open) database.pragma(`wal_autocheckpoint = ${pages}`);
}

/** Whether the log is long. Does not throw: the commit before is stored. */
function isLogLong(database: SqliteDatabase): boolean {
  try {
    const look = database.prepare<{ readonly log: number }>("pragma main.wal_checkpoint(noop)");
    return Number(look.get([])?.log) >= LONG_LOG;
  } catch {
    // The thread looks for itself.
    return true;
  }
}

/** How long a close that must not write back waits for a lock, in milliseconds. */
const CLOSE_TIMEOUT = 5_000;

/**
 * The last connection that closes writes the log back, by an index that is outdated once another process has created a
 * new one: what that process stored would be lost. SQLite writes nothing back while another connection has the database
 * open, nor for a read-only connection. Throws and leaves the database open if that connection cannot be opened.
 */
export function closeWithoutCheckpoint(
  Database: DatabaseConstructor,
  database: BetterSqlite3.Database,
): void {
  const reader = new Database(database.name, { readonly: true, timeout: CLOSE_TIMEOUT });
  try {
    try {
      // A transaction, because a file without a log is locked no longer than that.
      reader.exec("begin; select count(*) from sqlite_schema");
    } catch (error) {
      // It shares the old index with this process, and finds another log. It has locked the file all the same.
      if (!/^SQLITE_(?:IOERR_SHORT_READ|CORRUPT|NOTADB)/.test(sqliteCode(error))) throw error;
    }
    database.close();
  } finally {
    reader.close();
  }
}

/**
 * Writes the log back and removes it. SQLite would leave the log of a file that has another name now: its commits would
 * be missing there, and would be written into a new file of the old name. Leaves it if another connection uses the file.
 */
export function endLog(database: SqliteDatabase): void {
  try {
    database.pragma("main.journal_mode = delete");
  } catch (error) {
    // At the end, SQLite tries to write the new mode into the moved file.
    if (!isBusy(error) && sqliteCode(error) !== "SQLITE_READONLY_DBMOVED") throw error;
  }
}
