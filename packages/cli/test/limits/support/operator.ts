import { createPetStore, type PetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { onTestFinished } from "vitest";

/** The store in this file, in this process, beside the servers on it. Closed when the test ends. */
export async function openBeside(database: string): Promise<PetStore> {
  const storage = await openSqliteStorage({ filename: database });
  const store = createPetStore({ storage: storage._unsafeUnwrap() });
  onTestFinished(async () => {
    await store.close();
  });
  return store;
}
