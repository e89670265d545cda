import type { Storage } from "@petstore/core";
import { ResultAsync } from "neverthrow";
import type { Connections } from "./connect.js";
import { openStorageError, type OpenStorageError } from "./open-storage-error.js";
import { parseOptions, type SqliteStorageOptions } from "./options.js";
import { createSqliteStorage } from "./sqlite-storage.js";
import { whileBusy } from "./while-busy.js";

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
