// Run by durability and replaced-file: adds so many pets, and ends without closing the storage.
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = "", pets] = process.argv;
const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
for (let count = 0; count < Number(pets); count += 1) await storage.pets.create(rex);
