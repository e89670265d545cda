import type { Storage } from "@petstore/core";
import { monotonicNow, retryWhileBusy } from "@petstore/storage-sql";
import { ResultAsync } from "neverthrow";
import { loadDriver } from "./database/driver.js";
import { openFile, openHosts, type OpenDatabase } from "./database/open-database.js";
import { openStorageError, type OpenStorageError } from "./database/open-storage-error.js";
import { parseOptions, type Settings, type SqliteStorageOptions } from "./database/options.js";
import { isBusy } from "./database/errors.js";
import { createStorage } from "./storage/storage.js";

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
  const openDatabase = await openerOf(source, now);
  return retryWhileBusy({ timeout, now, isBusy }, async () => {
    const database = openDatabase();
    try {
      return createStorage(database, { timeout, now });
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

/** A host's database needs no driver of ours. */
async function openerOf(
  source: Settings["source"],
  now: () => number,
): Promise<() => OpenDatabase> {
  if (!("filename" in source)) return () => openHosts(source, now);
  const driver = await loadDriver();
  return () => openFile(driver, source, now);
}
