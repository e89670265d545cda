// Run by durability.test.ts: writes until the log was written back several times, and closes.
import { openStorage } from "./open-storage.js";
import { rex } from "./samples.js";

const storage = await openStorage({ filename: process.argv[2] ?? "" });
// 25 pages of the log.
const large = { ...rex, name: "x".repeat(100_000) };
for (let count = 0; count < 500; count += 1) await storage.pets.create(large);
const closed = await storage.close();
if (closed.isErr()) throw new Error(closed.error.message);
