// Measures pages of one database as it grows, in a process of its own:
//   node --expose-gc benchmarks/scale/pages.js FILE PETS
// Prints microseconds a page, by kind of page, and the memory after it, as one line of JSON.
import { Database } from "../better-sqlite3.js";
import { median } from "../report/median.js";
import { openStore } from "./seed.js";

const [, , filename = "", count = "0"] = process.argv;
const store = await openStore(filename);
const deep = Number(count) / 2;
const CALLS = 200;
const ROUNDS = 25;

const raw = new Database(filename);
const touch = raw.prepare("update pets_revision set revision = random() >> 11");

/**
 * Each call of a round asks `after` another id, and every round finds the inventory changed, so that
 * no page is one that is held in memory.
 * @type {Record<string, (call: number) => { after: number, status?: "sold" | "available" }>}
 */
const kinds = {
  "first page": (call) => ({ after: -call }),
  "first page, sold": (call) => ({ after: -call, status: "sold" }),
  "deep page": (call) => ({ after: deep - call }),
  "deep page, sold": (call) => ({ after: deep - call, status: "sold" }),
  "deep page, available": (call) => ({ after: deep - call, status: "available" }),
};

/** @type {Record<string, number[]>} */
const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  touch.run();
  for (const [kind, query] of Object.entries(kinds)) {
    const start = performance.now();
    for (let call = 0; call < CALLS; call += 1) {
      const page = await store.trusted.listPets(query(call));
      if (page.isErr() || page.value.pets.length !== 20) throw new Error(`no page: ${kind}`);
    }
    times[kind]?.push(((performance.now() - start) * 1_000) / CALLS);
  }
}
raw.close();
globalThis.gc?.();
const { heapUsed, rss } = process.memoryUsage();
const micros = Object.fromEntries(Object.entries(times).map(([kind, all]) => [kind, median(all)]));
console.log(JSON.stringify({ micros, heapUsed, rss }));
await store.close();
