// The pet store on PostgreSQL, as its users get it: the built packages, every check and limit in place. STORAGE names
// another build of the storage.
import { createServer } from "node:http";
import { createPetStore } from "@petstore/core";
import { mount } from "@petstore/http-adapter";
import { listening } from "../../http/servers/pets-table.js";

/** @type {typeof import("@petstore/storage-postgres")} */
const { openPostgresStorage } = await import(
  process.env["STORAGE"] ?? "@petstore/storage-postgres"
);
const opened = await openPostgresStorage({ url: process.env["DATABASE"] ?? "" });
if (opened.isErr()) throw new Error(opened.error.message, { cause: opened.error.cause });
const server = createServer();
mount(server, createPetStore({ storage: opened.value }));
listening(server);
