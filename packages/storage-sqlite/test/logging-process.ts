// Run by durability.test.ts: writes until a thread has written the log back, and closes.
import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { openStorage } from "./support/open-storage.js";
import { rex } from "../../storage-sql/test/support/samples.js";

const filename = process.argv[2] ?? "";
const storage = await openStorage({ filename });
// 25 pages of the log.
const large = { ...rex, name: "x".repeat(100_000) };
const sizeOf = (file: string): number => statSync(file).size;

/** Whether the file grows while this thread waits: then another thread writes the log back. */
async function growsMeanwhile(): Promise<boolean> {
  const before = sizeOf(filename);
  for (let wait = 0; wait < 100 && sizeOf(filename) === before; wait += 1) await setTimeout(10);
  return sizeOf(filename) > before;
}

// Until the thread runs, SQLite writes the log back inside commits. The log is looked at after 200 commits.
do {
  for (let count = 0; count < 200; count += 1) await storage.pets.create(large);
} while (!(await growsMeanwhile()));
const closed = await storage.close();
if (closed.isErr()) throw new Error(closed.error.message);
