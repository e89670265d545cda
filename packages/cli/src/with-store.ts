import { existsSync } from "node:fs";
import { createPetStore, type PetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { err, ok, type Result, type ResultAsync } from "neverthrow";

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

/** Opens a store, uses it and closes it again, whatever happened in between. */
export async function withStore<T, E extends { readonly message: string }>(
  opening: Promise<Result<PetStore, string>>,
  use: (store: PetStore) => ResultAsync<T, E>,
): Promise<Result<T, string>> {
  const opened = await opening;
  if (opened.isErr()) return err(opened.error);
  const used = await use(opened.value);
  const closed = await opened.value.close();
  if (used.isErr()) return err(used.error.message);
  return closed.isErr() ? err(closed.error.message) : ok(used.value);
}
