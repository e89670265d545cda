import { createPetStore, type PetStore, type PetStoreOptions } from "@petstore/core";
import { openPostgresStorage } from "@petstore/storage-postgres";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { onTestFinished } from "vitest";

/** The store in this database, in this process, beside the servers on it. Closed when the test ends. */
export async function openBeside(
  database: string,
  options: Omit<PetStoreOptions, "storage"> = {},
): Promise<PetStore> {
  const opened = database.startsWith("postgres:")
    ? await openPostgresStorage({ url: database })
    : await openSqliteStorage({ filename: database });
  const store = createPetStore({ ...options, storage: opened._unsafeUnwrap() });
  onTestFinished(async () => {
    await store.close();
  });
  return store;
}
