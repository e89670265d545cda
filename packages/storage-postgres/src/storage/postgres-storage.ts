import { setTimeout } from "node:timers/promises";
import { storageFailure, type Storage, type StorageFailure } from "@petstore/core";
import { backoffBefore, monotonicNow, TooLate } from "@petstore/storage-sql";
import { err, ok, type Result } from "neverthrow";
import { createWriter, type Synchronous } from "../commit/writer.js";
import type { OpenDatabase } from "../database/open-database.js";
import { isBusy, isCausedByCall, toFailure } from "../database/postgres-error.js";
import { prepareApiKeyUsage } from "../tables/api-key-usage.js";
import { prepareApiKeys } from "../tables/api-keys.js";
import { preparePetCreations } from "../tables/pet-creations.js";
import { preparePets } from "../tables/pets.js";
import { createKeyStorage, type RunCall } from "./key-storage.js";
import type { GroupSettings } from "./look-up.js";
import { createPetStorage } from "./pet-storage.js";
import { createUsageStorage } from "./usage-storage.js";

/** How long a call is tried again, in milliseconds. Its last statement may end later. */
const TIMEOUT = 2_000;

/** When a call fails at the latest, in milliseconds, even if a statement of it still runs. */
const DEADLINE = 5_000;

/** Limits how large a statement and its lists of values are. */
const LARGEST_BATCH = 250;

/** Creates the storage over an open database; `usageCommit` says what a charge waits for. */
export function createPostgresStorage(
  { connection, clock, onWarning, warn, close }: OpenDatabase,
  usageCommit: Synchronous,
): Storage {
  const group: GroupSettings = {
    errors: { isBusy, isCausedByCall, toFailure },
    timeout: TIMEOUT,
    limit: DEADLINE,
    largestBatch: LARGEST_BATCH,
    now: monotonicNow,
  };
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
    group,
  });
  const pets = createPetStorage({
    pets: preparePets(connection),
    creations: preparePetCreations(connection),
    writer: writers.pets,
    group,
  });
  const calls = createCalls();

  return {
    pets: pets.pets,
    keys: createKeyStorage(prepareApiKeys(connection), writers.keys, calls.run),
    usage: usage.usage,
    clock,
    onWarning,
    close: once(async () => {
      await Promise.all([usage.close(), pets.close(), calls.close()]);
      // What is left of a writer is removed later by others.
      await Promise.allSettled(Object.values(writers).map((writer) => writer.close()));
      try {
        await close();
        return ok();
      } catch (error) {
        return err(toFailure("Closing the database", error));
      }
    }),
  };
}

/** Runs calls that share no statement with others. */
function createCalls() {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  const run: RunCall = (name, action) => {
    if (isClosed)
      return Promise.resolve(err(storageFailure(`${name} failed: the storage is closed.`)));
    const result = runInTime(name, action);
    running.add(result);
    void result.finally(() => running.delete(result));
    return result;
  };
  return {
    run,
    close: async () => {
      isClosed = true;
      await Promise.all(running);
    },
  };
}

async function runInTime<T>(
  name: string,
  action: () => Promise<T>,
): Promise<Result<T, StorageFailure>> {
  const deadline = new AbortController();
  const late = setTimeout(DEADLINE, undefined, { signal: deadline.signal }).then(
    () => err(toFailure(name, new TooLate())),
    () => err(storageFailure(`${name} was answered.`)),
  );
  try {
    return await Promise.race([retry(name, action), late]);
  } finally {
    deadline.abort();
  }
}

async function retry<T>(
  name: string,
  action: () => Promise<T>,
): Promise<Result<T, StorageFailure>> {
  const startedAt = monotonicNow();
  for (let retries = 1; ; retries += 1) {
    try {
      return ok(await action());
    } catch (error) {
      if (!isBusy(error) || monotonicNow() - startedAt > TIMEOUT)
        return err(toFailure(name, error));
    }
    await setTimeout(backoffBefore(retries));
  }
}

function once<T>(action: () => T): () => T {
  let result: T | undefined;
  return () => (result ??= action());
}
