import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });

const created = await store.trusted.createPet({ name: "Rex", categoryId: 7n });
created.match(
  ({ pet }) => console.log(`Pet ${pet.id} is ${pet.status}.`),
  ({ message }) => console.error(message),
);
await store.close();
