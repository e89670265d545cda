// Imported by other processes, for the storage contract.
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";

export async function openStorage(options: SqliteStorageOptions) {
  return (await openSqliteStorage(options))._unsafeUnwrap();
}
