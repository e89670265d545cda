// Run by durability.test.ts: writes until there is a thread that writes back the log, and does not close.
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { rex } from "../../storage-sql/test/support/samples.js";

const storage = (await openSqliteStorage({ filename: process.argv[2] ?? "" }))._unsafeUnwrap();
for (let count = 0; count < 400; count += 1) await storage.pets.create(rex);
