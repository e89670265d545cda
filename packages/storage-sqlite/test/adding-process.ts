// Run by replaced-file.test.ts: adds three pets, sends their ids, and closes the storage.
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = ""] = process.argv;
const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
const ids: string[] = [];
for (let count = 0; count < 3; count += 1) {
  ids.push((await storage.pets.create(rex))._unsafeUnwrap().id.toString());
}
process.send?.(ids);
await storage.close();
process.disconnect();
