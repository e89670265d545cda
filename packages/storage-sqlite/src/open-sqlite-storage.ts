import { setTimeout } from "node:timers/promises";
import type { Storage } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import { connectToDatabase, connectToFile, type Connections } from "./connect.js";
import { isBusy } from "./failure.js";
import { openStorageError, type OpenStorageError } from "./open-storage-error.js";
import { pauseAfter } from "./patience.js";
import type { SqliteDatabase } from "./sqlite-database.js";
import { createSqliteStorage } from "./sqlite-storage.js";

/** Where to keep everything: in a file of its own, or in a host's open database. */
export type SqliteStorageOptions = SqliteFileOptions | SqliteDatabaseOptions;

export interface SqliteFileOptions extends WaitingOptions {
  /** The database file, created when it is missing; its folder must be there. `:memory:` for none. */
  readonly filename: string;
}

export interface SqliteDatabaseOptions extends WaitingOptions {
  /**
   * An open better-sqlite3 `Database` of the host's. It is put into WAL mode and set to
   * `synchronous=FULL`, shared with the host, and left open. Its own `timeout` blocks the event loop
   * when another process writes: make it a few milliseconds.
   */
  readonly database: SqliteDatabase;
}

interface WaitingOptions {
  /** How long a call waits for another process to let go of the database, from 0 to 3,600; 5 when left out. */
  readonly lockTimeoutSeconds?: number | undefined;
}

/**
 * Opens a storage on SQLite and creates or updates its tables. What is wrong with the database is
 * found here and answered as an error, not later.
 * @throws TypeError that names the option, when one is wrong.
 * @example
 * const storage = await openSqliteStorage({ filename: "pets.db" });
 * if (storage.isErr()) throw new Error(storage.error.message);
 * const store = createPetStore({ storage: storage.value });
 */
export function openSqliteStorage(
  options: SqliteStorageOptions,
): ResultAsync<Storage, OpenStorageError> {
  const { lockTimeoutSeconds = 5 } = options;
  if (!(lockTimeoutSeconds >= 0 && lockTimeoutSeconds <= 3_600)) {
    throw new TypeError("lockTimeoutSeconds must be a number from 0 to 3,600");
  }
  const connect = connector(options);
  const deadline = lockTimeoutSeconds * 1_000;
  return ResultAsync.fromPromise(
    whileBusy(deadline, () => open(connect, deadline)),
    openStorageError,
  );
}

function connector(options: SqliteStorageOptions): () => Connections {
  if ("database" in options) return () => connectToDatabase(options.database);
  const { filename } = options;
  if (!/^[^\0]+$/.test(filename)) throw new TypeError("filename must be a non-empty path");
  return () => connectToFile(filename);
}

function open(connect: () => Connections, deadline: number): Storage {
  const connections = connect();
  try {
    return createSqliteStorage(connections, deadline);
  } catch (error) {
    connections.release();
    throw error;
  }
}

/** Tries, and tries again while another connection holds the database; then throws what that threw. */
async function whileBusy<T>(deadline: number, attempt: () => T): Promise<T> {
  let waited = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || waited >= deadline) throw error;
    }
    const pause = pauseAfter(tries);
    await setTimeout(pause);
    waited += pause;
  }
}
