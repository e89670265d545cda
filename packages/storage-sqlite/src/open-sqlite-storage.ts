import { setTimeout } from "node:timers/promises";
import type { Storage } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import type { Connections } from "./connect.js";
import { isBusy } from "./failure.js";
import { openStorageError, type OpenStorageError } from "./open-storage-error.js";
import { parseOptions, type SqliteStorageOptions } from "./options.js";
import { pauseAfter } from "./patience.js";
import { createSqliteStorage } from "./sqlite-storage.js";

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
  const { connect, deadline } = parseOptions(options);
  return ResultAsync.fromPromise(
    whileBusy(deadline, () => open(connect, deadline)),
    openStorageError,
  );
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
