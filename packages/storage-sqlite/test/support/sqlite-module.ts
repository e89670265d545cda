import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";

export async function openStorage(options: SqliteStorageOptions) {
  return (await openSqliteStorage(options))._unsafeUnwrap();
}
