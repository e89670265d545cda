import { readFileSync, writeFileSync } from "node:fs";
import { openStorage } from "./open-storage.js";
import { aKey, rex } from "../../../storage-sql/test/support/samples.js";

/** Creates a database with the key "a" and 2,000 pets, the last of which are on damaged pages. */
export async function createDamagedDatabase(filename: string): Promise<void> {
  const storage = await openStorage({ filename });
  await storage.keys.insert(aKey("a"));
  await Promise.all(
    Array.from({ length: 2_000 }, () => storage.pets.create({ ...rex, name: "x".repeat(100) })),
  );
  await storage.close();
  const bytes = readFileSync(filename);
  writeFileSync(filename, bytes.fill(0xff, bytes.length - 20 * 4_096, bytes.length - 4_096));
}
