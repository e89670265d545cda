import type { Storage } from "@petstore/core";
import {
  createGroupCommit,
  createUsageStorage,
  createUsageTransaction,
  type Commit,
  type UsageSubject,
  type UsageTransaction,
} from "@petstore/storage-sql";
import { err, ok } from "neverthrow";
import type { Synchronous } from "../commit/transactions.js";
import type { Connection } from "../database/connection.js";
import type { OpenDatabase } from "../database/open-database.js";
import { isBusy, isCausedByCall, toFailure } from "../database/sqlite-error.js";
import { prepareApiKeyUsage, type ApiKeyUsage } from "../tables/api-key-usage.js";
import { preparePetCreations } from "../tables/pet-creations.js";
import { preparePets } from "../tables/pets.js";
import { createKeyStorage } from "./key-storage.js";
import { createPetStorage, createPetsTransaction } from "./pet-storage.js";

/** How long calls wait, and by which clock. */
export interface SqliteStorageSettings {
  /** How long a call waits for a locked database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
}

/** Creates the storage over an open database. */
export function createSqliteStorage(
  { connection, onWarning, close }: OpenDatabase,
  settings: SqliteStorageSettings,
): Storage {
  const pets = preparePets(connection);
  const creations = preparePetCreations(connection);
  const usage = prepareApiKeyUsage(connection);
  const errors = { isBusy, isCausedByCall, toFailure };

  // Reads share transactions, too: taking and releasing SQLite's lock costs as much as finding a row.
  const reading = createGroupCommit<undefined>({
    ...settings,
    commit: (calls) => connection.read(() => calls.map(({ work }) => work(undefined))),
    // A damaged page fails only the calls that read it.
    errors: { ...errors, isCausedByCall: () => true },
  });
  const writing = createGroupCommit({
    ...settings,
    commit: commitWrites(connection, "FULL", () => createPetsTransaction(pets, creations)),
    errors,
  });
  const charging = createGroupCommit<UsageTransaction & Transaction, UsageSubject>({
    ...settings,
    commit: commitWrites(connection, "NORMAL", () => beginUsage(usage)),
    errors,
    // A request is charged before it reads or writes.
    followedBy: [reading, writing],
  });

  return {
    pets: createPetStorage(pets, reading, writing),
    keys: createKeyStorage(connection, usage, reading, writing),
    usage: createUsageStorage(
      (digest) => reading.add("Finding an API key", () => usage.findHolder(digest)),
      charging,
    ),
    onWarning,
    close: once(async () => {
      await Promise.all([charging, reading, writing].map((group) => group.close()));
      try {
        await close();
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

function beginUsage(table: ApiKeyUsage): UsageTransaction & Transaction {
  const transaction = createUsageTransaction(table);
  return {
    ...transaction,
    flush: () => {
      for (const [keyId, usage] of transaction.changed) table.save(keyId, usage);
    },
  };
}

function commitWrites<Shared extends Transaction>(
  connection: Connection,
  synchronous: Synchronous,
  begin: () => Shared,
): Commit<Shared, unknown> {
  return (calls) =>
    connection.write(synchronous, () => {
      const transaction = begin();
      const results = calls.map(({ work }) => work(transaction));
      transaction.flush();
      return results;
    });
}

function once<T>(action: () => T): () => T {
  let result: T | undefined;
  return () => (result ??= action());
}
