import { openPostgresStorage, type PostgresStorageOptions } from "@petstore/storage-postgres";

export async function openStorage(options: PostgresStorageOptions) {
  return (await openPostgresStorage(options))._unsafeUnwrap();
}
