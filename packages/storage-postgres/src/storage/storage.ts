import type { Storage } from "@petstore/core";
import { createClose, monotonicNow } from "@petstore/storage-sql";
import { createCalls, type CallSettings } from "../commit/calls.js";
import type { Synchronous } from "../commit/write.js";
import { createWriter } from "../commit/writer.js";
import { isBusy, isCausedByCall, toFailure } from "../database/errors.js";
import type { OpenDatabase } from "../database/open-database.js";
import { prepareApiKeyUsage } from "../tables/api-key-usage.js";
import { prepareApiKeys } from "../tables/api-keys.js";
import { preparePetCreations } from "../tables/pet-creations.js";
import { preparePets } from "../tables/pets.js";
import { createKeyStorage } from "./key-storage.js";
import { createPetStorage } from "./pet-storage.js";
import { createUsageStorage } from "./usage-storage.js";

/** How calls run; `largestBatch` limits how large a statement and its lists of values are. */
const CALLS: CallSettings = {
  errors: { isBusy, isCausedByCall, toFailure },
  timeout: 2_000,
  limit: 5_000,
  largestBatch: 250,
  now: monotonicNow,
};

/** Creates the storage over an open database; `usageCommit` says what a charge waits for. */
export function createStorage(
  { connection, clock, onWarning, warn, close }: OpenDatabase,
  usageCommit: Synchronous,
): Storage {
  // Each has statements of its own kind, which do not wait for the others'.
  const writers = {
    usage: createWriter(connection, warn),
    pets: createWriter(connection, warn),
    keys: createWriter(connection, warn),
  };
  const usage = createUsageStorage({
    table: prepareApiKeyUsage(connection, usageCommit),
    writer: writers.usage,
    clock,
    settings: CALLS,
  });
  const pets = createPetStorage({
    pets: preparePets(connection),
    creations: preparePetCreations(connection),
    writer: writers.pets,
    settings: CALLS,
  });
  const calls = createCalls(CALLS);

  return {
    pets: pets.pets,
    keys: createKeyStorage(prepareApiKeys(connection), writers.keys, calls.run),
    usage: usage.usage,
    clock,
    onWarning,
    close: createClose({
      settle: async () => {
        await Promise.all([usage.close(), pets.close(), calls.close()]);
        // What is left of a writer is removed later by others.
        await Promise.allSettled(Object.values(writers).map((writer) => writer.close()));
      },
      close,
      toFailure,
    }),
  };
}
