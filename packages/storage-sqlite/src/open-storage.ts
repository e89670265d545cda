import { resolve } from "node:path";
import type { Storage } from "@petstore/core/storage";
import { createChargedUsage, createClose, monotonicNow } from "@petstore/storage-sql";
import { retryWhileBusy, type RetrySettings } from "@petstore/storage-sql";
import { ResultAsync } from "neverthrow";
import { loadDriver } from "./database/driver.js";
import { DatabaseExchanged, isBusy, toFailure } from "./database/errors.js";
import { openFile, openHosts, type OpenDatabase } from "./database/open-database.js";
import { openStorageError, type OpenSqliteError } from "./database/open-storage-error.js";
import { parseOptions, type Settings, type SqliteStorageOptions } from "./database/options.js";
import { prepareApiKeyUsage, rememberUsage } from "./storage/api-key-usage.js";
import { createGroups } from "./storage/groups.js";
import { createSqliteKeyStorage } from "./storage/key-storage.js";
import { preparePetCreations } from "./storage/pet-creations.js";
import { createPetsTransaction, createSqlitePetStorage } from "./storage/pet-storage.js";
import { preparePets } from "./storage/pet-storage.js";

/**
 * Opens a storage on SQLite, and creates or updates its tables. An unusable database fails this call, not a later one.
 * @throws TypeError that names the option, when one is wrong.
 * @example
 * const storage = await openSqliteStorage({ filename: "pets.db" });
 * if (storage.isErr()) throw new Error(storage.error.message);
 * const store = createPetStore({ storage: storage.value });
 */
export function openSqliteStorage(
  options: SqliteStorageOptions,
): ResultAsync<Storage, OpenSqliteError> {
  return ResultAsync.fromPromise(open(parseOptions(options)), openStorageError);
}

async function open({ source, timeout }: Settings): Promise<Storage> {
  const now = monotonicNow;
  let openDatabase: () => OpenDatabase;
  // A host's database needs no driver of ours.
  if (!("filename" in source)) openDatabase = () => openHosts(source, now);
  else {
    // A relative name would name another file once the process has changed its folder.
    const filename = source.filename === ":memory:" ? ":memory:" : resolve(source.filename);
    const driver = await loadDriver();
    openDatabase = () => openFile(driver, { ...source, filename }, now);
  }
  // If the file was exchanged meanwhile, as by a restore, the new one is opened.
  const mayRetry = (error: unknown) => isBusy(error) || error instanceof DatabaseExchanged;
  return retryWhileBusy({ timeout, now, isBusy: mayRetry }, async () => {
    const database = openDatabase();
    try {
      return createStorage(database, { timeout, now });
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

function createStorage({ connection, onWarning, close }: OpenDatabase, settings: RetrySettings) {
  const pets = preparePets(connection);
  const usage = prepareApiKeyUsage(connection);
  const creations = preparePetCreations(connection);
  const begin = () => createPetsTransaction(pets, creations);
  const remembered = rememberUsage(connection, usage);
  const groups = createGroups(connection, settings, remembered, begin);
  const { reads, writes, charges } = groups;
  const findByDigest = (digest: string) =>
    reads.add("Finding an API key", () => usage.findByDigest(digest));

  return {
    pets: createSqlitePetStorage(pets, groups),
    keys: createSqliteKeyStorage(connection, usage, remembered, groups),
    usage: createChargedUsage(findByDigest, charges),
    onWarning,
    close: createClose({
      settle: () => Promise.all([charges, reads, writes].map((group) => group.close())),
      close,
      toFailure,
    }),
  };
}
