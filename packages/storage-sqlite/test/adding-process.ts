// Run by durability, replaced-file, restore and second-copy: adds so many pets, and ends without closing the storage.
// `end` says otherwise: it waits for the end of standard input, or reopens the storage after each pet, or is a path: then
// it also reads the database by a second copy of SQLite, prints each pet, and reopens a storage that cannot be used.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { rex } from "../../storage-sql/test/support/samples.js";
import { readBySecondCopy } from "./support/second-copy.js";

const [, , filename = "", pets, end = ""] = process.argv;
const hasSecond = end.includes("/");
const open = async () => (await openSqliteStorage({ filename }))._unsafeUnwrap();
let storage = await open();
for (let count = 0; count < Number(pets); count += 1) {
  const name = `${process.pid} ${count}`;
  const created = await storage.pets.create({ ...rex, name });
  if (hasSecond && created.isOk()) writeSync(1, `${created.value.id}:${name}\n`);
  if (end === "reopen" || (hasSecond && created.isErr())) {
    await storage.close();
    storage = await open();
  }
  try {
    if (hasSecond && count % 5 === 4) readBySecondCopy(filename, end);
  } catch {
    // To the second copy, the file may be locked, or its log be gone.
  }
}
if (hasSecond) await storage.close();
if (end === "wait") {
  writeSync(1, "added");
  await once(process.stdin.resume(), "end");
}
