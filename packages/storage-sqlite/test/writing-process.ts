// Run by durability.test.ts under strace: prints each finished call to standard output.
import { writeSync } from "node:fs";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { aKey, chargeOnce, rex } from "../../storage-sql/test/support/samples.js";

const [, , filename = ""] = process.argv;
const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
const done = (call: string) => writeSync(1, `done: ${call}\n`);
const request = { token: "t", fingerprint: "f", now: 1, expiresAt: 2 };
await chargeOnce(storage, "a");
(await storage.pets.createOnce(rex, request)).map(() => done("once"));
await storage.keys.insert(aKey("a"));
done("open");
for (let round = 0; round < 5; round += 1) {
  await chargeOnce(storage, "a").then(() => done("charge"));
  (await storage.pets.create(rex)).map(() => done("create"));
  const updated = await storage.keys.update("a", (key) => ({ next: key && { ...key }, result: 1 }));
  updated.map(() => done("update"));
}
