import type { Storage } from "@petstore/core";
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";

/** A storage that must open. */
export async function openStorage(options: SqliteStorageOptions): Promise<Storage> {
  const opened = await openSqliteStorage(options);
  if (opened.isErr()) throw new Error(opened.error.message, { cause: opened.error.cause });
  return opened.value;
}
