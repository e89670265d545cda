// Runs in Bun and in Deno: a server of ours, with a store in a SQLite file.
import { createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";

const filename = process.env["PETSTORE_DATABASE"] ?? "pets.db";
const store = createPetStore({ storage: (await openSqliteStorage({ filename }))._unsafeUnwrap() });
const server = createPetStoreServer(store);
// As the examples, it prints a key when it is ready.
const { secret } = (await store.keys.issue({ plan: "free" }))._unsafeUnwrap();
const print = (): void => console.log(`Authorization: Bearer ${secret}`);
server.listen(Number(process.env["PORT"]), "127.0.0.1", print);
process.once("SIGTERM", () => void server.drain({ timeoutSeconds: 10 }).then(() => store.close()));
