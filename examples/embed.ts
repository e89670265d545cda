import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });

const issued = await store.keys.issue({ plan: "free", label: "acme" });
if (issued.isErr()) throw new Error(issued.error.message);

const created = await store.as(issued.value.secret).createPet({ name: "Rex", categoryId: 7n });
created.match(
  ({ pet, quota }) =>
    console.log(
      `Pet ${pet.id} is ${pet.status}. ${quota.remaining} of ${quota.limit} requests are left.`,
    ),
  ({ code, message }) => console.error(`${code}: ${message}`),
);
await store.close();
