import type { Storage } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import { openDatabase } from "./database/open-database.js";
import { openStorageError, type OpenPostgresError } from "./database/open-storage-error.js";
import { parseOptions, type PostgresStorageOptions, type Settings } from "./database/options.js";
import { createStorage } from "./storage/storage.js";

/**
 * Opens a storage on PostgreSQL, and creates or updates its tables. An unusable database fails this call,
 * not a later one.
 * @throws TypeError that names the option, when one is wrong.
 * @example
 * const storage = await openPostgresStorage({ url: "postgres://petstore@db.internal/petstore" });
 * if (storage.isErr()) throw new Error(storage.error.message);
 * const store = createPetStore({ storage: storage.value });
 */
export function openPostgresStorage(
  options: PostgresStorageOptions,
): ResultAsync<Storage, OpenPostgresError> {
  return ResultAsync.fromPromise(open(parseOptions(options)), openStorageError);
}

async function open(settings: Settings): Promise<Storage> {
  const database = await openDatabase(settings);
  return createStorage(database, settings.durableUsage ? "on" : "off");
}
