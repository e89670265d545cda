import { existsSync } from "node:fs";
import { createPetStore, type PetStore, type Storage } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError, type StoreError } from "./describe-error.js";
import { isPostgres, nameOf } from "./options.js";
import type { ReportError } from "./terminal.js";

/** Opens the store in this database. A file is created, and reported, if it does not exist. */
export async function openStore(
  database: string,
  report: ReportError = () => undefined,
): Promise<Result<PetStore, string>> {
  if (isPostgres(database)) return openPostgresStore(database);
  const isNew = !existsSync(database);
  const store = createStore(database, await openSqliteStorage({ filename: database }));
  if (isNew && store.isOk()) report(`new database ${database}`);
  return store;
}

/** Opens the store in this database. A file must exist; if it cannot be written, it can only be read. */
export async function openExistingStore(database: string): Promise<Result<PetStore, string>> {
  if (isPostgres(database)) return openPostgresStore(database);
  if (!existsSync(database)) return err(`there is no database ${database}`);
  const storage = await openSqliteStorage({ filename: database });
  if (storage.isOk() || storage.error.code !== "read_only") return createStore(database, storage);
  return createStore(database, await openSqliteStorage({ filename: database, readOnly: true }));
}

/** Loads PostgreSQL's storage only now: most stores are files. */
async function openPostgresStore(url: string): Promise<Result<PetStore, string>> {
  if (!URL.canParse(url)) return err("the URL of the database is not valid");
  const { openPostgresStorage } = await import("@petstore/storage-postgres");
  return createStore(url, await openPostgresStorage({ url }));
}

function createStore(
  database: string,
  storage: Result<Storage, { readonly message: string }>,
): Result<PetStore, string> {
  return storage
    .map((opened) => createPetStore({ storage: opened }))
    .mapErr(({ message }) => `cannot use the database ${nameOf(database)}: ${message}`);
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
