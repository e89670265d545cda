// Run by second-copy: adds pets, and reads the database by a second copy of SQLite in between. Prints each pet that was
// added. Opens the storage again when it cannot be used any more.
import { writeSync } from "node:fs";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { readBySecondCopy } from "./support/second-copy.js";
import { rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = "", nativeBinding = "", pets] = process.argv;
const open = async () => (await openSqliteStorage({ filename }))._unsafeUnwrap();
let storage = await open();
for (let count = 0; count < Number(pets); count += 1) {
  const name = `${process.pid} ${count}`;
  const created = await storage.pets.create({ ...rex, name });
  if (created.isOk()) writeSync(1, `${created.value.id}:${name}\n`);
  else {
    await storage.close();
    storage = await open();
  }
  if (count % 5 < 4) continue;
  try {
    readBySecondCopy(filename, nativeBinding);
  } catch {
    // To the second copy, the file may be locked, or its log be gone.
  }
}
await storage.close();
