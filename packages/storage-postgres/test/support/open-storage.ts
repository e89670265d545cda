import type { Storage } from "@petstore/core";
import { openPostgresStorage, type PostgresStorageOptions } from "@petstore/storage-postgres";

/** Opens a storage. Throws if that fails. */
export async function openStorage(options: PostgresStorageOptions): Promise<Storage> {
  const opened = await openPostgresStorage(options);
  if (opened.isErr())
    throw new Error(`${opened.error.code}: ${opened.error.message}`, { cause: opened.error.cause });
  return opened.value;
}
