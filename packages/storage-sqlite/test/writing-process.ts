// Run by durability.test.ts under strace: prints each finished call to standard output.
import { writeSync } from "node:fs";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { aKey, chargeOnce, rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = ""] = process.argv;
const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
await storage.keys.insert(aKey("a"));
writeSync(1, "done: open\n");
for (let round = 0; round < 5; round += 1) {
  await chargeOnce(storage, "a");
  writeSync(1, "done: charge\n");
  (await storage.pets.create(rex))._unsafeUnwrap();
  writeSync(1, "done: create\n");
  (
    await storage.keys.update("a", (key) => ({ next: key && { ...key }, result: key }))
  )._unsafeUnwrap();
  writeSync(1, "done: update\n");
}
