import type { Storage } from "@petstore/core/storage";
import { createClose, monotonicNow } from "@petstore/storage-sql";
import { ResultAsync } from "neverthrow";
import { createAttempts } from "./commit/calls.js";
import { createWriters } from "./commit/writer.js";
import { isBusy, isCausedByCall, toFailure } from "./database/errors.js";
import { openDatabase, type OpenDatabase } from "./database/open-database.js";
import { openStorageError, type OpenPostgresError } from "./database/open-storage-error.js";
import { parseOptions, type PostgresStorageOptions, type Settings } from "./database/options.js";
import { prepareApiKeyUsage } from "./storage/api-key-usage.js";
import { createPostgresKeyStorage } from "./storage/key-storage.js";
import { createPostgresPetStorage } from "./storage/pet-storage.js";
import { createPostgresUsageStorage } from "./storage/usage-storage.js";

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
  const settings = parseOptions(options);
  const opening = openDatabase(settings).then((database) => createStorage(database, settings));
  return ResultAsync.fromPromise(opening, openStorageError);
}

/** How many calls share a statement: it limits how large the statement and its lists of values are. */
const LARGEST_BATCH = 250;

function createStorage(
  { connection, clock, onWarning, warn, close }: OpenDatabase,
  { durableUsage, callTimeout, timeout }: Settings,
): Storage {
  const errors = { isBusy, isCausedByCall, toFailure };
  const settings = { timeout, callTimeout, now: monotonicNow, errors, largestBatch: LARGEST_BATCH };
  const usageCommit = durableUsage ? "on" : "off";
  const writers = createWriters(connection, warn);
  const { run, close: closeCalls } = createAttempts(settings);
  const usages = prepareApiKeyUsage(connection, usageCommit);
  const usage = createPostgresUsageStorage(usages, writers.open(usageCommit), clock, settings);
  const pets = createPostgresPetStorage(connection, writers, run, settings);

  return {
    pets: pets.pets,
    keys: createPostgresKeyStorage(connection, writers, run),
    usage: usage.usage,
    clock,
    onWarning,
    close: createClose({
      settle: async () => {
        await Promise.all([usage.close(), pets.close(), closeCalls()]);
        await writers.close();
      },
      close,
      toFailure,
    }),
  };
}
