import { createPetStore } from "@petstore/core";

const store = createPetStore(); // in memory; with a storage, in SQLite or PostgreSQL
const issued = await store.keys.issue({ plan: "free", label: "acme" });
const caller = store.as(issued.isOk() ? issued.value.secret : undefined);

const created = await caller.createPet({ name: "Rex", categoryId: 7n });
created.match(
  ({ pet, quota }) => console.log(`Pet ${pet.id}: ${quota.remaining} of ${quota.limit} are left.`),
  (error) => console.error(`${error.code}: ${error.message}`),
);
// Pet 1: 59 of 60 are left.
