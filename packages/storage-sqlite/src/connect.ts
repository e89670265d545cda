import type BetterSqlite3 from "better-sqlite3";
import { createConnection, type Connection } from "./connection.js";
import { Database } from "./driver.js";
import { DatabaseInUse } from "./failure.js";
import { createFileCheck } from "./file-check.js";
import { migrate, mustBeMigratable } from "./migrations/migrate.js";
import { refuse } from "./open-storage-error.js";
import { createQueries } from "./schema.js";
import type { SqliteDatabase } from "./sqlite-database.js";
import { isOlder } from "./sqlite-version.js";

/** The connections of one storage: two to a file, one to a memory or to a host's database. */
export interface Connections {
  /** Syncs the disk at every commit: for what must survive a loss of power. */
  readonly durable: Connection;
  /**
   * Leaves syncing to the checkpoints: for what need only survive the process. Reads go here too:
   * SQLite drops a connection's page cache when another one commits, and this one commits most.
   */
  readonly swift: Connection;
  /** How long SQLite blocks the thread in each try to lock the database, in milliseconds. */
  readonly blocking: number;
  /** Closes what was opened here; a host's database stays open. */
  release(): void;
}

/** None: the event loop would stand still, and for a millisecond at least. A busy database is tried again. */
const BLOCKING_MILLISECONDS = 0;

/** Before it, commits could be lost when several processes write and checkpoint. */
const OLDEST_SQLITE = "3.51.3";

/** Opens a file, or `:memory:`, and brings it up to date. Throws what is wrong with it. */
export function connectToFile(filename: string): Connections {
  const opened: BetterSqlite3.Database[] = [];
  const open = (): BetterSqlite3.Database => {
    const database = openFile(filename);
    opened.unshift(database);
    return database;
  };
  const release = (): void => {
    for (const database of opened) database.close();
  };

  try {
    const main = open();
    main.pragma("foreign_keys = ON");
    const check = main.memory ? undefined : createFileCheck(filename);
    const durable = bringUpToDate(main, check);
    // For the first time now that there is a log.
    check?.();
    const swift = main.memory ? durable : connectSwift(open());
    return { durable, swift, blocking: BLOCKING_MILLISECONDS, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Brings a host's database up to date. Throws what is wrong with it. */
export function connectToDatabase(database: SqliteDatabase): Connections {
  if (!database.open) throw refuse("cannot_open", "The database is closed.");
  if (database.inTransaction) throw new DatabaseInUse();
  const durable = bringUpToDate(database);
  const blocking = Number(database.pragma("busy_timeout", { simple: true }));
  return { durable, swift: durable, blocking, release: () => undefined };
}

function openFile(filename: string): BetterSqlite3.Database {
  try {
    return new Database(filename, { timeout: BLOCKING_MILLISECONDS });
  } catch (error) {
    // The one TypeError that better-sqlite3 has for a string.
    if (!(error instanceof TypeError)) throw error;
    throw refuse("cannot_open", "The folder of the database file does not exist.");
  }
}

function bringUpToDate(database: SqliteDatabase, beforeCommit?: () => void): Connection {
  const queries = createQueries();
  const connection = createConnection(database, queries, beforeCommit);
  refuseOldSqlite(connection);
  lookBeforeSwitching(connection, queries);
  const mode = database.pragma("journal_mode = WAL", { simple: true });
  if (mode !== "wal" && mode !== "memory") {
    throw refuse("not_durable", "SQLite cannot keep a write-ahead log at this place.");
  }
  database.pragma("synchronous = FULL");
  migrate(connection, queries);
  refuseLessThanFull(database);
  return connection;
}

/** Switching to the log changes the file, so a database that is refused must be known before. */
function lookBeforeSwitching(
  connection: Connection,
  queries: ReturnType<typeof createQueries>,
): void {
  const mode = connection.database.pragma("journal_mode", { simple: true });
  // Without a journal nothing could be taken back.
  if (mode !== "wal" && mode !== "off") mustBeMigratable(connection, queries);
}

function refuseOldSqlite(connection: Connection): void {
  const version = connection.prepare((queries) =>
    queries.selectNoFrom(({ fn }) => fn<string>("sqlite_version", []).as("number")),
  );
  const { number = "" } = version.get({}) ?? {};
  if (isOlder(number, OLDEST_SQLITE)) {
    throw refuse("sqlite_too_old", `SQLite is ${number}, but must be ${OLDEST_SQLITE} or newer.`);
  }
}

/** After the first write: SQLite may choose a level of its own when the log is first used. */
function refuseLessThanFull(database: SqliteDatabase): void {
  const full = 2;
  if (Number(database.pragma("synchronous", { simple: true })) < full) {
    throw refuse("not_durable", "SQLite does not sync the disk at every commit.");
  }
}

function connectSwift(database: SqliteDatabase): Connection {
  database.pragma("foreign_keys = ON");
  database.pragma("synchronous = NORMAL");
  return createConnection(database, createQueries());
}
