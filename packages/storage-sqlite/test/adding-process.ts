// Run by replaced-file.test.ts: adds three pets, sends their ids, and closes the storage.
import { openStorage } from "./support/open-storage.js";
import { rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = ""] = process.argv;
const storage = await openStorage({ filename });
const ids: string[] = [];
for (let count = 0; count < 3; count += 1) {
  ids.push((await storage.pets.create(rex))._unsafeUnwrap().id.toString());
}
process.send?.(ids);
await storage.close();
process.disconnect();
