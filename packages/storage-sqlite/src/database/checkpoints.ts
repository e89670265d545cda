import { Worker } from "node:worker_threads";
import type { SqliteDatabase, SqliteStatement } from "./sqlite-database.js";

/**
 * Writes the log back to the database file in a thread of its own. SQLite does it inside a commit, where its
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

/** How often the thread tries to get the write lock, and its pause in milliseconds between two tries. */
const LOCK_TRIES = 100;
const LOCK_PAUSE = 0.2;

/**
 * Runs in the thread. It is text, so that a bundler can put this package into one file. A passive checkpoint
 * does most of the work beside the commits, but the log grows meanwhile, so that SQLite cannot restart it.
 * The rest is written back under the write lock, which the storage waits for without blocking the event loop.
 * While a reader keeps an old snapshot, the log cannot be written back as a whole.
 */
const THREAD = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { driver, filename, longLog, tries, pause } = workerData;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  import(driver).then(({ default: Database }) => {
    const database = new Database(filename, { fileMustExist: true, timeout: 0 });
    const checkpoint = (mode) => database.pragma("wal_checkpoint(" + mode + ")")[0];
    parentPort.on("message", () => {
      // It may have been written back since the message was sent.
      if (checkpoint("NOOP").log < longLog) return;
      const { log, checkpointed } = checkpoint("PASSIVE");
      if (checkpointed < log) return;
      for (let left = tries; left > 0 && checkpoint("FULL").busy; left -= 1) {
        Atomics.wait(clock, 0, 0, pause);
      }
    });
    parentPort.postMessage("ready");
  });
`;

/**
 * @param driver the URL of the driver; without one, and where no thread can be started, SQLite goes on to
 *   write the log back inside commits.
 */
export function createCheckpoints(
  database: SqliteDatabase,
  filename: string,
  driver: string | undefined,
): Checkpoints {
  const isLogLong = createIsLogLong(database);
  let commits = 0;
  let isPossible = driver !== undefined;
  let thread: Worker | undefined;

  const start = (): Worker | undefined => {
    try {
      const limits = { longLog: LONG_LOG, tries: LOCK_TRIES, pause: LOCK_PAUSE };
      const workerData = { driver, filename, ...limits };
      const started = new Worker(THREAD, { eval: true, workerData, execArgv: [] });
      started.on("message", () => setLongestLog(LONGEST_LOG));
      started.on("error", giveUp);
      started.unref();
      return started;
    } catch {
      giveUp();
      return undefined;
    }
  };

  const giveUp = (): void => {
    isPossible = false;
    setLongestLog(SQLITES_LOG);
  };

  const setLongestLog = (pages: number): void => {
    if (database.open) database.pragma(`wal_autocheckpoint = ${pages}`);
  };

  return {
    afterCommit: () => {
      commits += 1;
      if (!isPossible || commits % COMMITS_PER_LOOK > 0) return;
      thread ??= start();
      if (isLogLong()) thread?.postMessage("write back");
    },
    stop: async () => {
      isPossible = false;
      await thread?.terminate();
    },
  };
}

/** Creates the function that looks whether the log is long. It does not throw: the commit before is stored. */
function createIsLogLong(database: SqliteDatabase): () => boolean {
  let look: SqliteStatement<readonly number[]> | undefined;
  return () => {
    try {
      look ??= database.prepare("pragma wal_checkpoint(noop)");
      look.raw(true);
      const [, pages = 0] = look.get([]) ?? [];
      return pages >= LONG_LOG;
    } catch {
      // The thread looks for itself.
      return true;
    }
  };
}
