import { existsSync } from "node:fs";
import { createPetStore, type PetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { err, ok, type Result, type ResultAsync } from "neverthrow";
import { describeStoreError, type StoreError } from "./store-error.js";

/** Opens the store in this file. `Err` is one line for a person. */
export async function openStore(database: string): Promise<Result<PetStore, string>> {
  const storage = await openSqliteStorage({ filename: database });
  return storage
    .map((opened) => createPetStore({ storage: opened }))
    .mapErr(({ message }) => `cannot use the database ${database}: ${message}`);
}

/** Opens the store in a file that must already exist. */
export async function openExistingStore(database: string): Promise<Result<PetStore, string>> {
  return existsSync(database) ? openStore(database) : err(`there is no database ${database}`);
}

/** Opens a store, uses it and closes it again, also when `use` throws. */
export async function withStore<T, E extends StoreError>(
  opening: Promise<Result<PetStore, string>>,
  use: (store: PetStore) => ResultAsync<T, E>,
): Promise<Result<T, string>> {
  const opened = await opening;
  if (opened.isErr()) return err(opened.error);
  const store = opened.value;
  try {
    const used = await use(store);
    const closed = await store.close();
    if (used.isErr()) return err(describeStoreError(used.error));
    return closed.isErr() ? err(describeStoreError(closed.error)) : ok(used.value);
  } finally {
    // What is closed already stays so.
    await store.close();
  }
}
