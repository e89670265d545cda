import type { Storage } from "@petstore/core";
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";
import { onTestFinished } from "vitest";

/** Opens a storage until the end of the test. Throws if that fails. */
export async function openStorage(options: SqliteStorageOptions): Promise<Storage> {
  const storage = (await openSqliteStorage(options))._unsafeUnwrap();
  onTestFinished(async () => {
    await storage.close();
  });
  return storage;
}
