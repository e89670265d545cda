import type { Storage } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import { monotonicNow, retryWhileBusy } from "./commit/retry.js";
import { openDatabase } from "./database/open-database.js";
import { openStorageError, type OpenStorageError } from "./database/open-storage-error.js";
import { parseOptions, type Settings, type SqliteStorageOptions } from "./database/options.js";
import { isBusy } from "./database/sqlite-error.js";
import { createSqliteStorage } from "./storage/sqlite-storage.js";

/**
 * Opens a storage on SQLite, and creates or updates its tables. An unusable database fails this call,
 * not a later one.
 * @throws TypeError that names the option, when one is wrong.
 * @example
 * const storage = await openSqliteStorage({ filename: "pets.db" });
 * if (storage.isErr()) throw new Error(storage.error.message);
 * const store = createPetStore({ storage: storage.value });
 */
export function openSqliteStorage(
  options: SqliteStorageOptions,
): ResultAsync<Storage, OpenStorageError> {
  return ResultAsync.fromPromise(open(parseOptions(options)), openStorageError);
}

async function open({ source, timeout }: Settings): Promise<Storage> {
  const now = monotonicNow;
  return retryWhileBusy({ timeout, now, isBusy }, () => {
    const database = openDatabase(source);
    try {
      return createSqliteStorage(database, { timeout, now });
    } catch (error) {
      database.close();
      throw error;
    }
  });
}
