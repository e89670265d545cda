import { dirname } from "node:path";
import { closeWithoutCheckpoint, createCheckpoints, endLog } from "../commit/checkpoints.js";
import type { DatabaseCheck, TransactionOptions } from "../commit/transactions.js";
import { migrate, prepareSchemaCheck, refuseUnmigratable } from "../migrations/migrate.js";
import { refuseUnmigrated } from "../migrations/migrate.js";
import { createConnection, type Connection } from "./connection.js";
import { exists, inodeOf, refuseUnsafe, statAt } from "./database-files.js";
import { ensureMark, openWithOwnLog } from "./database-mark.js";
import { LARGE_LOG, NO_FILES, watchDatabase, watchFiles } from "./database-watch.js";
import type { WatchedFiles, WatchOptions } from "./database-watch.js";
import type { DatabaseConstructor, LoadedDriver, SqliteDatabase } from "./driver.js";
import { DatabaseExchanged, DatabaseInUse } from "./errors.js";
import { OpenRefusal } from "./open-storage-error.js";
import type { SqliteFile } from "./options.js";

export type OpenDatabase = ReturnType<typeof openHosts>;

/** Older versions can lose commits when several processes write and checkpoint. */
const OLDEST_SQLITE = "3.51.3";

/** The suffixes of the files beside the database that must stay while it is open. */
const BESIDE = ["-wal", "-shm"] as const;

export function openFile(
  { Database, url }: LoadedDriver,
  { filename, readOnly }: SqliteFile,
  now: () => number,
): OpenDatabase {
  if (!exists(dirname(filename))) {
    throw new OpenRefusal("cannot_open", "The folder of the database file does not exist.");
  }
  const isInMemory = filename === ":memory:";
  if (!isInMemory) refuseUnsafe(filename);
  const before = isInMemory ? undefined : inodeOf(statAt(filename));
  const database = openWithOwnLog(Database, filename, {
    // SQLite's own waiting blocks the event loop. A busy database is retried instead.
    timeout: 0,
    readonly: readOnly,
    fileMustExist: readOnly,
  });
  const isOnDisk = !database.memory && !readOnly;
  let files: WatchedFiles;
  try {
    database.pragma("foreign_keys = ON");
    database.pragma(`main.journal_size_limit = ${LARGE_LOG}`);
    files = database.memory ? NO_FILES : watchFiles(filename, readOnly ? [] : BESIDE, now);
  } catch (error) {
    database.close();
    throw error;
  }
  const areOurs = (): boolean => lookIfPossible(files).areSame;
  const checkpoints = createCheckpoints(database, filename, isOnDisk ? url : undefined, areOurs);
  const { close, closeNow } = createClose(Database, database, files, checkpoints);
  try {
    if (before !== undefined && files.inode !== before) throw new DatabaseExchanged();
    const prepare = readOnly ? refuseUnmigrated : bringUpToDate;
    const { afterCommit } = checkpoints;
    const options = { files, now, release: close, isShared: false, afterCommit };
    const opened = openTables(database, prepare, options);
    if (isOnDisk) ensureMark(database);
    return { ...opened, close };
  } catch (error) {
    const isExchanged = !areOurs();
    closeNow();
    throw isExchanged ? new DatabaseExchanged() : error;
  }
}

/** If the look fails, nothing is written back, as if another process had taken the files over. */
function lookIfPossible(files: WatchedFiles) {
  try {
    return files.look();
  } catch {
    return { areSame: false, areTakenOver: true, isLogLeft: false, logSize: 0 };
  }
}

/** Creates what closes a database of our own: `closeNow` does not wait, and never throws. */
function createClose(
  Database: DatabaseConstructor,
  database: ReturnType<typeof openWithOwnLog>,
  files: WatchedFiles,
  checkpoints: ReturnType<typeof createCheckpoints>,
) {
  const closeDatabase = (): void => {
    if (!database.open) return;
    const { areTakenOver, isLogLeft } = lookIfPossible(files);
    if (areTakenOver) {
      closeWithoutCheckpoint(Database, database);
      return;
    }
    if (isLogLeft) endLog(database);
    database.close();
  };
  const closeAtExit = (): void => {
    try {
      checkpoints.stopNow();
      closeDatabase();
    } catch {
      // The process ends, or the error that made the opening fail is reported.
    }
  };
  // The driver closes what is open at the end of the process, without a look.
  const cancelExit = atExit(closeAtExit);
  const ended = (): void => {
    files.lock.end();
    cancelExit();
  };
  return {
    closeNow: (): void => {
      closeAtExit();
      ended();
    },
    close: async (): Promise<void> => {
      // The thread's connection must not be the last one, which writes the log back.
      await checkpoints.stop();
      closeDatabase();
      ended();
    },
  };
}

const closings = new Set<() => void>();

const closeAll = (): void => closings.forEach((close) => close());

/** Calls `close` at the end of the process, unless undone before. All share a listener: Node warns of more than ten. */
function atExit(close: () => void): () => void {
  if (closings.size === 0) process.on("exit", closeAll);
  closings.add(close);
  return () => {
    closings.delete(close);
    if (closings.size === 0) process.off("exit", closeAll);
  };
}

/** Uses a host's database, which stays open when it is closed. Throws when it cannot be used. */
export function openHosts(database: SqliteDatabase, now: () => number) {
  if (!database.open) throw new OpenRefusal("cannot_open", "The database is closed.");
  if (database.inTransaction) throw new DatabaseInUse();
  const main = "select file from pragma_database_list where name = 'main'";
  // With all links followed; empty for a database in memory.
  const filename = database.prepare<{ readonly file: string }>(main).get([])?.file ?? "";
  if (filename !== "") refuseUnsafe(filename);
  const files = filename === "" ? NO_FILES : watchFiles(filename, BESIDE, now);
  const close = (): Promise<void> => {
    files.lock.end();
    return Promise.resolve();
  };
  const options = { files, now, release: close, isShared: true, afterCommit: () => undefined };
  try {
    return { ...openTables(database, bringUpToDate, options), close };
  } catch (error) {
    files.lock.end();
    throw error;
  }
}

function openTables(
  database: SqliteDatabase,
  prepare: (connection: Connection) => void,
  options: Omit<WatchOptions, "checkSchema"> & Omit<TransactionOptions, "check" | "marked">,
) {
  // Without a check: the tables and the log may not exist yet.
  const unchecked = createConnection(database, { ...options, check: NO_CHECK, marked: "FULL" });
  refuseOldSqlite(database);
  prepare(unchecked);
  const watch = watchDatabase({ ...options, checkSchema: prepareSchemaCheck(unchecked) });
  // Remembers the log and the shared memory, which exist from now on.
  watch.beforeTransaction();
  const marked = options.isShared ? "NORMAL" : undefined;
  const connection = createConnection(database, { ...options, check: watch, marked });
  return { connection, onWarning: watch.onWarning };
}

const NO_CHECK: DatabaseCheck = {
  beforeTransaction: () => undefined,
  beforeFullCommit: () => undefined,
};

function bringUpToDate(connection: Connection): void {
  const { database } = connection;
  // Switching to the log changes the file, so a database that will be refused must be detected first.
  // With the journal off, the trial could not be rolled back.
  const before = database.pragma("main.journal_mode", { simple: true });
  if (before !== "wal" && before !== "off") refuseUnmigratable(connection);
  database.pragma("main.synchronous = FULL");
  const mode = database.pragma("main.journal_mode = WAL", { simple: true });
  if (mode !== "wal" && mode !== "memory") {
    throw new OpenRefusal("not_durable", "SQLite cannot keep a write-ahead log at this place.");
  }
  migrate(connection);
  // SQLite may choose another level when it first uses the log, which is the first write.
  database.pragma("main.synchronous = FULL");
  const full = 2;
  if (Number(database.pragma("main.synchronous", { simple: true })) < full) {
    throw new OpenRefusal("not_durable", "SQLite does not sync the disk at every commit.");
  }
}

function refuseOldSqlite(database: SqliteDatabase): void {
  const look = database.prepare<{ version: string }>("select sqlite_version() as version");
  const { version } = look.get([]) ?? { version: "" };
  if (version.localeCompare(OLDEST_SQLITE, "en", { numeric: true }) >= 0) return;
  const message = `SQLite is ${version}, but must be ${OLDEST_SQLITE} or newer.`;
  throw new OpenRefusal("sqlite_too_old", message);
}
