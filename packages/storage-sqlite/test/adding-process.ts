// Run by durability, replaced-file and restore: adds so many pets, and ends without closing the storage, once standard
// input has ended if it is told to wait. If it is told to reopen, it closes and opens the storage after each pet.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = "", pets, end] = process.argv;
const open = async () => (await openSqliteStorage({ filename }))._unsafeUnwrap();
let storage = await open();
for (let count = 0; count < Number(pets); count += 1) {
  await storage.pets.create(rex);
  if (end !== "reopen") continue;
  await storage.close();
  storage = await open();
}
if (end === "wait") {
  writeSync(1, "added");
  await once(process.stdin.resume(), "end");
}
