import type { setPriority } from "node:os";
import type { MessagePort } from "node:worker_threads";
import type Driver from "better-sqlite3";
import type { DatabaseConstructor } from "../database/driver.js";

export interface ThreadData {
  /** The URL of the driver. */
  readonly driver: string;
  readonly filename: string;
  /** In pages. */
  readonly longLog: number;
  readonly niceness: number;
  /** One number, which becomes 1. */
  readonly hasEnded: Int32Array;
}

interface ThreadHost {
  readonly setPriority: typeof setPriority;
  readonly parentPort: MessagePort;
  readonly load: (driver: string) => Promise<{ readonly default: DatabaseConstructor }>;
}

/**
 * Writes the log back. A passive checkpoint does most of the work beside the commits, but the log grows meanwhile, so
 * that SQLite cannot restart it. Then the storage writes back the rest, under the write lock. The thread never has that
 * lock, so nothing waits for it. While a reader keeps an old snapshot, the log cannot be written back as a whole.
 *
 * It has to end by itself (in Deno, its port has no `close`) before the storage closes its own connection. Else the
 * thread's would be the last one, and write the log back without a look; a driver being loaded would abort the process.
 *
 * The thread gets the text of this function, so that a bundler can put this package into one file: it may use nothing
 * of its module. Its own functions are methods: for others, a bundler that keeps names adds calls of a helper.
 */
function runThread(
  { setPriority, parentPort, load }: ThreadHost,
  { driver, filename, longLog, niceness, hasEnded }: ThreadData,
): void {
  const steps = {
    end() {
      Atomics.store(hasEnded, 0, 1);
      Atomics.notify(hasEnded, 0);
    },
    // Not prepared before it is needed: that would read the file that has this name at the moment, and its log.
    checkpoint(database: Driver.Database, mode: "noop" | "passive") {
      const pragma = `pragma main.wal_checkpoint(${mode})`;
      return database.prepare<[], readonly number[]>(pragma).raw().get() ?? [];
    },
  };
  process.once("exit", () => steps.end());
  if (niceness > 0) {
    try {
      setPriority(0, niceness);
    } catch {
      // A sandbox may forbid it.
    }
  }
  // If it fails, the thread ends with the error.
  void load(driver).then(({ default: Database }) => {
    const database = new Database(filename, { fileMustExist: true, timeout: 0 });
    parentPort.on("message", (message) => {
      if (message === "end") {
        database.close();
        steps.end();
        parentPort.postMessage("ended");
        parentPort.unref();
        return;
      }
      try {
        // It may have been written back since the message was sent.
        const [, length = 0] = steps.checkpoint(database, "noop");
        if (length < longLog) return;
        const [, log, checkpointed] = steps.checkpoint(database, "passive");
        if (checkpointed === log) parentPort.postMessage("written");
      } catch {
        // Such as a full disk. It is woken again after the next commits.
      }
    });
    parentPort.postMessage("ready");
  });
}

export const THREAD = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { setPriority } = require("node:os");
  (${String(runThread)})({ setPriority, parentPort, load: (driver) => import(driver) }, workerData);
`;
