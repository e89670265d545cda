// Runs in Bun and in Deno: a server of ours, with a store in a SQLite file.
import { createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const opened = await openSqliteStorage({ filename: process.env["PETSTORE_DATABASE"] ?? "pets.db" });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });
const server = createPetStoreServer(store);
server.listen(Number(process.env["PORT"]), "127.0.0.1", () => void print());
process.once("SIGTERM", () => void shutDown());

async function print() {
  const issued = await store.keys.issue({ plan: "free" });
  issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
}

async function shutDown() {
  await server.drain(10_000);
  await store.close();
}
