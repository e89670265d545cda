// Run by durability, replaced-file and restore: adds so many pets, and ends without closing the storage, or waits for the
// end of standard input before.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = "", pets, end] = process.argv;
const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
for (let count = 0; count < Number(pets); count += 1) await storage.pets.create(rex);
if (end === "wait") {
  writeSync(1, "added");
  await once(process.stdin.resume(), "end");
}
