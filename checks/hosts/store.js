import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";

/** Opens the store of the probe. */
export async function openStore() {
  const opened = await openSqliteStorage({ filename: process.env.PETSTORE_DATABASE ?? "pets.db" });
  if (opened.isErr()) throw new Error(opened.error.message);
  return createPetStore({ storage: opened.value });
}
