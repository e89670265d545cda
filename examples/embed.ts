import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });
const issued = await store.keys.issue({ plan: "free", label: "acme" });
if (issued.isErr()) throw new Error(issued.error.message);
const caller = store.as(issued.value.secret);

const created = await caller.createPet({ name: "Rex", categoryId: 7n });
if (created.isOk()) {
  const { pet, quota } = created.value;
  const left = `${quota.remaining} of ${quota.limit} requests are left`;
  console.log(`Pet ${pet.id} is ${pet.status}. ${left}.`);
} else {
  const { error } = created;
  switch (error.code) {
    case "rate_limit_exceeded":
    case "api_key_banned":
      console.error(`Try again in ${error.retryAfterSeconds} seconds.`);
      break;
    default:
      console.error(`${error.code}: ${error.message}`);
  }
}

let after: bigint | undefined;
do {
  const page = await caller.listPets({ limit: 100, after });
  if (page.isErr()) throw new Error(page.error.message);
  for (const { id, name } of page.value.pets) console.log(id, name);
  after = page.value.next;
} while (after !== undefined);
await store.close();
