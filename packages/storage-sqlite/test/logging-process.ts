// Run by durability.test.ts: writes until a thread has written the log back, and closes.
import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { openStorage } from "./open-storage.js";
import { rex } from "./samples.js";

const filename = process.argv[2] ?? "";
const storage = await openStorage({ filename });
// 25 pages of the log.
const large = { ...rex, name: "x".repeat(100_000) };
const sizeOf = (file: string): number => statSync(file).size;

// Until the thread runs, SQLite writes the log back at 1,000 pages.
while (sizeOf(`${filename}-wal`) < 1_500 * 4_096) await storage.pets.create(large);
const before = sizeOf(filename);
// Fewer pages than SQLite needs to write the log back beside a thread.
for (let count = 0; count < 400; count += 1) await storage.pets.create(large);
while (sizeOf(filename) === before) await setTimeout(10);
const closed = await storage.close();
if (closed.isErr()) throw new Error(closed.error.message);
