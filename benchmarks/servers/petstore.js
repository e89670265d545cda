// The pet store as its users get it: the built packages, every check and limit in place. On PostgreSQL if DATABASE is an
// address; STORAGE names another build of that storage.
import { createServer } from "node:http";
import { createPetStore } from "@petstore/core";
import { mount, pollForRequests } from "@petstore/http-adapter";
import { listening } from "./pets-table.js";

const { DATABASE = "", STORAGE = "@petstore/storage-postgres", SEED, POLL } = process.env;
const store = createPetStore({ storage: await open() });
if (SEED) await seed(Number(SEED));

const server = createServer();
mount(server, store);
if (POLL) pollForRequests(server);
listening(server);

async function open() {
  const opened = DATABASE.startsWith("postgres:") ? await openPostgres() : await openSqlite();
  if (opened.isErr()) throw new Error(opened.error.message, { cause: opened.error.cause });
  return opened.value;
}

async function openSqlite() {
  const { openSqliteStorage } = await import("@petstore/storage-sqlite");
  return openSqliteStorage({ filename: DATABASE });
}

async function openPostgres() {
  /** @type {typeof import("@petstore/storage-postgres")} */
  const { openPostgresStorage } = await import(STORAGE);
  return openPostgresStorage({ url: DATABASE });
}

/** Adds pets, and prints the secret of a new key. @param {number} count */
async function seed(count) {
  for (let from = 0; from < count; from += 1_000) {
    await Promise.all(
      Array.from({ length: Math.min(1_000, count - from) }, (_, index) =>
        store.trusted.createPet({ name: `pet ${from + index}`, categoryId: (from + index) % 50 }),
      ),
    );
  }
  const limits = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
  const issued = await store.keys.issue({ plan: "enterprise", limits });
  if (issued.isOk()) console.log(issued.value.secret);
}
