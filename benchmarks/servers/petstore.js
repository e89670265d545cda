// The pet store as its users get it: the built packages, every check and limit in place. On PostgreSQL if DATABASE is an
// address.
import { createServer } from "node:http";
import { createPetStore } from "@petstore/core";
import { mount } from "@petstore/http-adapter";
import { listening } from "./pets-table.js";

const { DATABASE = "", SEED } = process.env;
const opened = DATABASE.startsWith("postgres:") ? await openPostgres() : await openSqlite();
if (opened.isErr()) throw new Error(opened.error.message, { cause: opened.error.cause });
const store = createPetStore({ storage: opened.value });
if (SEED) {
  const { fill, issue } = await import("../instrument/store.js");
  await fill(store, Number(SEED));
  console.log(await issue(store));
}
const server = createServer();
mount(server, store);
listening(server);

async function openSqlite() {
  const { openSqliteStorage } = await import("@petstore/storage-sqlite");
  return openSqliteStorage({ filename: DATABASE });
}

async function openPostgres() {
  const { openPostgresStorage } = await import("@petstore/storage-postgres");
  return openPostgresStorage({ url: DATABASE });
}
