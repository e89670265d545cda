import { Worker } from "node:worker_threads";
import { markLog } from "./database-mark.js";
import type { SqliteDatabase, SqliteStatement } from "./driver.js";

/**
 * Writes the log back to the database file, nearly all of it in a thread. SQLite does it inside a commit, where its
 * syncs block the event loop for milliseconds.
 */
export interface Checkpoints {
  /** To be called after each commit. Starts the thread if there are enough of them. */
  afterCommit(): void;
  /** Resolves when the thread has ended and its connection is closed. */
  stop(): Promise<void>;
}

/** A commit changes one page or more, so the length of the log is looked at several times before it is long. */
const COMMITS_PER_LOOK = 200;

/** Without a thread, SQLite writes the log back when it has this many pages: its own default. */
const SQLITES_LOG = 1_000;

/** The thread writes the log back when it has this many pages. SQLite syncs inside the commit that restarts it. */
const LONG_LOG = 4 * SQLITES_LOG;

/** If the thread does not keep up, SQLite writes the log back when it has this many pages. */
const LONGEST_LOG = 4 * LONG_LOG;

/** The lowest priority. On Linux a thread can have its own; elsewhere it would be that of the whole process. */
const NICENESS = process.platform === "linux" ? 19 : 0;

/**
 * Runs in the thread. It is text, so that a bundler can put this package into one file. A passive checkpoint
 * does most of the work beside the commits, but the log grows meanwhile, so that SQLite cannot restart it. Then
 * the storage writes back the rest, under the write lock. The thread never has that lock, so nothing waits for it.
 * While a reader keeps an old snapshot, the log cannot be written back as a whole.
 */
const THREAD = `
  const { setPriority } = require("node:os");
  const { parentPort, workerData } = require("node:worker_threads");
  const { driver, filename, longLog, niceness } = workerData;
  if (niceness > 0) {
    try {
      setPriority(0, niceness);
    } catch {
      // A sandbox may forbid it.
    }
  }
  import(driver).then(({ default: Database }) => {
    const database = new Database(filename, { fileMustExist: true, timeout: 0 });
    const checkpoint = (mode) => database.pragma("main.wal_checkpoint(" + mode + ")")[0];
    parentPort.on("message", () => {
      // It may have been written back since the message was sent.
      if (checkpoint("NOOP").log < longLog) return;
      const { log, checkpointed } = checkpoint("PASSIVE");
      if (checkpointed === log) parentPort.postMessage("the rest");
    });
    parentPort.postMessage("ready");
  });
`;

/**
 * @param driver the URL of the driver; without one, and where no thread can be started, SQLite goes on to
 *   write the log back inside commits.
 * @param areOurs whether the files are known to be still those that were opened
 */
export function createCheckpoints(
  database: SqliteDatabase,
  filename: string,
  driver: string | undefined,
  areOurs: () => boolean,
): Checkpoints {
  const isLogLong = createIsLogLong(database);
  let commits = 0;
  let isPossible = driver !== undefined;
  let thread: Worker | undefined;

  const start = (): Worker | undefined => {
    try {
      const started = startThread(driver, filename);
      started.on("message", (message) => {
        if (message === "ready") setLongestLog(database, LONGEST_LOG);
        else writeBackRest(database, areOurs, giveUp);
      });
      started.on("error", giveUp);
      // After the listeners, which would keep the process alive.
      started.unref();
      return started;
    } catch {
      giveUp();
      return undefined;
    }
  };

  const giveUp = (): void => {
    isPossible = false;
    setLongestLog(database, SQLITES_LOG);
  };

  return {
    afterCommit: () => {
      commits += 1;
      if (!isPossible || commits % COMMITS_PER_LOOK > 0) return;
      thread ??= start();
      if (isLogLong() && areOurs()) thread?.postMessage("write back");
    },
    stop: async () => {
      isPossible = false;
      await thread?.terminate();
    },
  };
}

function startThread(driver: string | undefined, filename: string): Worker {
  const workerData = { driver, filename, longLog: LONG_LOG, niceness: NICENESS };
  return new Worker(THREAD, { eval: true, workerData, execArgv: [] });
}

/** If another connection writes at the moment, the thread is woken again after the next commits. */
function writeBackRest(
  database: SqliteDatabase,
  areOurs: () => boolean,
  onError: () => void,
): void {
  try {
    if (!database.open || !areOurs()) return;
    database.pragma("main.wal_checkpoint(full)");
    // The next commit begins the log anew.
    markLog(database);
  } catch {
    onError();
  }
}

/** Sets at how many pages SQLite writes the log back inside a commit. */
function setLongestLog(database: SqliteDatabase, pages: number): void {
  if (database.open) database.pragma(`wal_autocheckpoint = ${pages}`);
}

/** Creates the function that looks whether the log is long. It does not throw: the commit before is stored. */
function createIsLogLong(database: SqliteDatabase): () => boolean {
  let look: SqliteStatement<readonly number[]> | undefined;
  return () => {
    try {
      look ??= database.prepare("pragma main.wal_checkpoint(noop)");
      look.raw(true);
      const [, pages = 0] = look.get([]) ?? [];
      return pages >= LONG_LOG;
    } catch {
      // The thread looks for itself.
      return true;
    }
  };
}
