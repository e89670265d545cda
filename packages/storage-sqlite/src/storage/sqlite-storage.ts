import type { Storage } from "@petstore/core";
import { err, ok } from "neverthrow";
import { createGroupCommit, type Commit } from "../commit/group-commit.js";
import type { Synchronous } from "../commit/transactions.js";
import type { Connection } from "../database/connection.js";
import type { OpenDatabase } from "../database/open-database.js";
import { isBusy, isCausedByCall, toFailure } from "../database/sqlite-error.js";
import { prepareApiKeyUsage } from "../tables/api-key-usage.js";
import { preparePets } from "../tables/pets.js";
import { createKeyStorage } from "./key-storage.js";
import { createPetStorage, createPetsTransaction } from "./pet-storage.js";
import { createUsageStorage, createUsageTransaction } from "./usage-storage.js";

export interface SqliteStorageSettings {
  /** How long a call waits for a locked database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
}

export function createSqliteStorage(
  { connection, close }: OpenDatabase,
  settings: SqliteStorageSettings,
): Storage {
  const pets = preparePets(connection);
  const usage = prepareApiKeyUsage(connection);
  const errors = { isBusy, isCausedByCall, toFailure };

  // Reads share transactions, too: taking and releasing SQLite's lock costs as much as finding a row.
  const reading = createGroupCommit<undefined>({
    ...settings,
    commit: (works) => connection.read(() => works.map((work) => work(undefined))),
    // A damaged page fails only the calls that read it.
    errors: { ...errors, isCausedByCall: () => true },
  });
  const writing = createGroupCommit({
    ...settings,
    commit: commitWrites(connection, "FULL", () => createPetsTransaction(pets)),
    errors,
  });
  const charging = createGroupCommit({
    ...settings,
    commit: commitWrites(connection, "NORMAL", () => createUsageTransaction(usage)),
    errors,
    // A request is charged before it reads or writes.
    followedBy: [reading, writing],
  });

  return {
    pets: createPetStorage(pets, reading, writing),
    keys: createKeyStorage(connection, usage, reading, writing),
    usage: createUsageStorage(usage, reading, charging),
    close: once(async () => {
      await Promise.all([charging, reading, writing].map((group) => group.close()));
      try {
        close();
        return ok();
      } catch (error) {
        return err(toFailure("Closing the database", error));
      }
    }),
  };
}

/** The state that the calls of one transaction share. */
interface Transaction {
  /** Writes the changes that the calls collected. */
  flush(): void;
}

function commitWrites<Shared extends Transaction>(
  connection: Connection,
  synchronous: Synchronous,
  begin: () => Shared,
): Commit<Shared> {
  return (works) =>
    connection.write(synchronous, () => {
      const transaction = begin();
      const results = works.map((work) => work(transaction));
      transaction.flush();
      return results;
    });
}

function once<T>(action: () => T): () => T {
  let result: T | undefined;
  return () => (result ??= action());
}
