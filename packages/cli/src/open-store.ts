import { existsSync } from "node:fs";
import { createPetStore, type PetStore, type Storage } from "@petstore/core";
import { openSqliteStorage, type OpenStorageError } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError, type StoreError } from "./describe-error.js";

/** Opens the store in this file, which is created if it does not exist. `wrap` may wrap its storage. */
export async function openStore(
  database: string,
  wrap = (storage: Storage): Storage => storage,
): Promise<Result<PetStore, string>> {
  const storage = await openSqliteStorage({ filename: database });
  return createStore(database, storage.map(wrap));
}

/** Opens the store in this file, which must exist. If it cannot be written, it can only be read. */
export async function openExistingStore(database: string): Promise<Result<PetStore, string>> {
  if (!existsSync(database)) return err(`there is no database ${database}`);
  const storage = await openSqliteStorage({ filename: database });
  if (storage.isOk() || storage.error.code !== "read_only") return createStore(database, storage);
  return createStore(database, await openSqliteStorage({ filename: database, readOnly: true }));
}

function createStore(
  database: string,
  storage: Result<Storage, OpenStorageError>,
): Result<PetStore, string> {
  return storage
    .map((opened) => createPetStore({ storage: opened }))
    .mapErr(({ message }) => `cannot use the database ${database}: ${message}`);
}

/** Uses a store that is being opened, and closes it afterwards. */
export async function withStore<T>(
  opening: Promise<Result<PetStore, string>>,
  use: (store: PetStore) => PromiseLike<Result<T, StoreError>>,
): Promise<Result<T, string>> {
  const opened = await opening;
  if (opened.isErr()) return err(opened.error);
  const store = opened.value;
  const used = await use(store);
  const closed = await store.close();
  if (used.isErr()) return err(describeStoreError(used.error));
  if (closed.isErr()) return err(describeStoreError(closed.error));
  return ok(used.value);
}
