import type BetterSqlite3 from "better-sqlite3";
import { migrate, refuseUnmigratable } from "../migrations/migrate.js";
import { createConnection, type Connection } from "./connection.js";
import { createFileCheck } from "./database-files.js";
import { Database } from "./driver.js";
import { OpenRefusal } from "./open-storage-error.js";
import type { SqliteDatabase } from "./sqlite-database.js";
import { DatabaseInUse } from "./sqlite-error.js";

/** A database whose tables are up to date. */
export interface OpenDatabase {
  readonly connection: Connection;
  /** Closes the file; a host's database stays open. */
  readonly close: () => void;
}

/** 0, because SQLite's own waiting blocks the event loop. A busy database is retried instead. */
const BUSY_TIMEOUT = 0;

/** Older versions can lose commits when several processes write and checkpoint. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/** Opens a file, `:memory:`, or a host's database. Throws when it cannot be used. */
export function openDatabase(source: string | SqliteDatabase): OpenDatabase {
  return typeof source === "string" ? openFile(source) : openHosts(source);
}

function openFile(filename: string): OpenDatabase {
  const database = open(filename);
  const close = (): void => void database.close();
  try {
    database.pragma("foreign_keys = ON");
    const checkFile = database.memory ? () => undefined : createFileCheck(filename);
    const connection = createConnection(database, {
      setsSynchronous: true,
      beforeFullCommit: checkFile,
    });
    bringUpToDate(connection);
    // The log exists from now on; this remembers it.
    checkFile();
    return { connection, close };
  } catch (error) {
    close();
    throw error;
  }
}

function openHosts(database: SqliteDatabase): OpenDatabase {
  if (!database.open) throw new OpenRefusal("cannot_open", "The database is closed.");
  if (database.inTransaction) throw new DatabaseInUse();
  const connection = createConnection(database, {
    setsSynchronous: false,
    beforeFullCommit: () => undefined,
  });
  bringUpToDate(connection);
  return { connection, close: () => undefined };
}

function open(filename: string): BetterSqlite3.Database {
  try {
    return new Database(filename, { timeout: BUSY_TIMEOUT });
  } catch (error) {
    // The only TypeError that better-sqlite3 throws for a string.
    if (!(error instanceof TypeError)) throw error;
    throw new OpenRefusal("cannot_open", "The folder of the database file does not exist.");
  }
}

function bringUpToDate(connection: Connection): void {
  const { database } = connection;
  refuseOldSqlite(connection);
  // Switching to the log changes the file, so a database that will be refused must be detected first.
  // With the journal off, the trial could not be rolled back.
  const before = database.pragma("journal_mode", { simple: true });
  if (before !== "wal" && before !== "off") refuseUnmigratable(connection);
  const mode = database.pragma("journal_mode = WAL", { simple: true });
  if (mode !== "wal" && mode !== "memory") {
    throw new OpenRefusal("not_durable", "SQLite cannot keep a write-ahead log at this place.");
  }
  database.pragma("synchronous = FULL");
  migrate(connection);
  refuseLessThanFull(database);
}

function refuseOldSqlite(connection: Connection): void {
  const version = connection.select(["version"], (queries) =>
    queries.selectNoFrom(({ fn }) => fn<string>("sqlite_version", []).as("version")),
  );
  const [number] = version.get(undefined) ?? [""];
  if (isOlder(number.split(".").map(Number), OLDEST_SQLITE)) {
    const oldest = OLDEST_SQLITE.join(".");
    throw new OpenRefusal("sqlite_too_old", `SQLite is ${number}, but must be ${oldest} or newer.`);
  }
}

function isOlder(version: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((part, index) => version[index] !== part);
  return at >= 0 && (version[at] ?? 0) < (other[at] ?? 0);
}

/** Runs after the first write: SQLite may choose another level when it first uses the log. */
function refuseLessThanFull(database: SqliteDatabase): void {
  const full = 2;
  if (Number(database.pragma("synchronous", { simple: true })) < full) {
    throw new OpenRefusal("not_durable", "SQLite does not sync the disk at every commit.");
  }
}
