import type { Storage } from "@petstore/core/storage";
import { openPostgresStorage, type PostgresStorageOptions } from "@petstore/storage-postgres";
import { onTestFinished } from "vitest";

export * from "../../../storage-sql/test/support/samples.js";

export async function openStorage(options: PostgresStorageOptions): Promise<Storage> {
  const storage = (await openPostgresStorage(options))._unsafeUnwrap();
  onTestFinished(() => storage.close().then(() => undefined));
  return storage;
}
