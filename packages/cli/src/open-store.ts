import { existsSync } from "node:fs";
import { createPetStore, type PetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError, type StoreError } from "./describe-error.js";
import type { ReportError } from "./terminal.js";

/** Opens the store in this file, which is created, and reported, if it does not exist. */
export async function openStore(
  database: string,
  report: ReportError = () => undefined,
): Promise<Result<PetStore, string>> {
  const isNew = !existsSync(database);
  const storage = await openSqliteStorage({ filename: database });
  if (storage.isErr()) return err(`cannot use the database ${database}: ${storage.error.message}`);
  if (isNew) report(`new database ${database}`);
  return ok(createPetStore({ storage: storage.value }));
}

/** Opens the store in this file, which must exist. */
export async function openExistingStore(database: string): Promise<Result<PetStore, string>> {
  return existsSync(database) ? openStore(database) : err(`there is no database ${database}`);
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
