import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });
const issued = await store.keys.issue({ plan: "free", label: "acme" });
if (issued.isErr()) throw new Error(issued.error.message);

const created = await store.as(issued.value.secret).createPet({ name: "Rex", categoryId: 7n });
if (created.isOk()) console.log(`Pet ${created.value.pet.id} is ${created.value.pet.status}.`);
else console.error(`${created.error.code}: ${created.error.message}`);
await store.close();
