import { existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { createPetStore, type PetStore } from "@petstore/core";
import { codeOf } from "@petstore/core/facts";
import type { Storage } from "@petstore/core/storage";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { err, type Result } from "neverthrow";
import { describeStoreError, type StoreError } from "./describe-error.js";
import { isPostgres, nameOf } from "./options.js";
import type { ReportError } from "./terminal.js";

/** A file is created if it does not exist, and `report` says so. */
export async function openStorage(database: string, report?: ReportError) {
  if (isPostgres(database)) return openPostgres(database);
  const isNew = !existsSync(database);
  const storage = await openSqliteStorage({ filename: database });
  if (isNew && storage.isOk()) report?.(`new database ${database}`);
  return storage.mapErr(failureOf(database));
}

/** A file must exist, and have the tables of a store; if it cannot be written, it can only be read. */
export async function openExistingStorage(database: string): Promise<Result<Storage, string>> {
  if (isPostgres(database)) return openPostgres(database);
  if ((await access(database).catch(codeOf)) === "ENOENT")
    return err(`there is no database ${database}`);
  const filename = database;
  // To open another program's database for writing would add the tables of a store.
  const readable = await openSqliteStorage({ filename, readOnly: true });
  if (readable.isOk()) await readable.value.close();
  else if (readable.error.code !== "read_only") return readable.mapErr(failureOf(database));
  const writable = await openSqliteStorage({ filename });
  const isReadOnly = writable.isErr() && writable.error.code === "read_only";
  const storage = isReadOnly ? await openSqliteStorage({ filename, readOnly: true }) : writable;
  return storage.mapErr(failureOf(database));
}

export async function openStore(database: string, report?: ReportError) {
  return (await openStorage(database, report)).map((storage) => createPetStore({ storage }));
}

export async function openExistingStore(database: string) {
  return (await openExistingStorage(database)).map((storage) => createPetStore({ storage }));
}

async function openPostgres(url: string): Promise<Result<Storage, string>> {
  // eslint-disable-next-line no-restricted-syntax -- Most stores are files: pg is loaded only for PostgreSQL.
  const { isPostgresUrl, openPostgresStorage } = await import("@petstore/storage-postgres");
  if (!isPostgresUrl(url)) return err(INVALID_URL);
  return (await openPostgresStorage({ url })).mapErr(failureOf(url));
}

const INVALID_URL =
  "the URL of the database is not valid: it must be like postgres://user:password@host/name, with # / ? @ in the password percent-encoded";

function failureOf(database: string): (error: { readonly message: string }) => string {
  return ({ message }) => `cannot use the database ${nameOf(database)}: ${message}`;
}

/** Uses a store or storage that is being opened, and closes it afterwards. `Err` says why one of the three failed. */
export async function withStore<Opened extends Pick<PetStore | Storage, "close">, T>(
  opening: Promise<Result<Opened, string>>,
  use: (store: Opened) => PromiseLike<Result<T, StoreError | string>>,
): Promise<Result<T, string>> {
  const opened = await opening;
  if (opened.isErr()) return err(opened.error);
  const used = await use(opened.value);
  const closed = await opened.value.close();
  return used
    .andThen((value) => closed.map(() => value))
    .mapErr((error) => (typeof error === "string" ? error : describeStoreError(error)));
}
