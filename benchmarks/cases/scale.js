// How pages and memory do as the inventory grows.
import { statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../better-sqlite3.js";
import { makeFolder } from "../instrument/servers.js";
import { fill, openStore } from "../instrument/store.js";
import { compareWork, createSamples, repeatBy } from "../instrument/turns.js";

/** @import { Case } from "../cases.js" */

const SIZES = [1_000, 100_000, 1_000_000, 5_000_000];
const FIRST = ["first page", "first page, sold"];
const KINDS = [...FIRST, "deep page", "deep page, sold", "deep page, available"];

/** @type {Case} */
export const scale = {
  name: "scale",
  measures: "pages and memory from 1,000 pets to so many (--pets)",
  defaults: { rounds: 25, seconds: 0, pets: 5_000_000 },
  secondsOfRound: ({ pets }) => 1 + pets / 200_000,
  run: async ({ rounds, pets: most }) => {
    const filename = join(makeFolder(), "pets.db");
    const sizes = [...SIZES.filter((size) => size < most), most];
    const samples = createSamples();
    const memory = createSamples();
    for (const [index, size] of sizes.entries()) {
      const store = await openStore(filename);
      await fill(store, size, sizes[index - 1], (pet) =>
        pet % 20 === 19 ? "sold" : pet % 20 > 15 ? "pending" : "available",
      );
      const raw = new Database(filename);
      const touch = raw.prepare("update pets_revision set revision = random() >> 11");
      // Each call of a round has another `after`, and every round finds the inventory changed, so that no page is one
      // that is held in memory.
      const contenders = KINDS.map((name) => ({
        ...{ name: `${name}, ${size}`, times: 200, prepare: () => touch.run() },
        work: repeatBy(1, async (call) => {
          const after = (name.startsWith("deep") ? size / 2 : 0) - call;
          const status = /** @type {const} */ (["sold", "available"]).find((s) => name.endsWith(s));
          const page = await store.trusted.listPets({ after, ...(status && { status }) });
          if (page.isErr() || page.value.pets.length !== 20) throw new Error(`no page: ${name}`);
        }),
      }));
      await compareWork(contenders, rounds, samples);
      raw.close();
      globalThis.gc?.();
      const { heapUsed: heap, rss: resident } = process.memoryUsage();
      await store.close();
      memory.add(String(size), { heap, resident, file: statSync(filename).size });
    }
    const head = sizes.map((size) => size.toLocaleString("en"));
    return [
      {
        name: "scale-pages",
        title: "Pages as the inventory grows",
        text: "Microseconds for a page of 20 that is not held in memory, in process on SQLite, and × the same with 1,000 pets; deep: after half of all ids; 1 in 20 pets is sold.",
        head: ["pets", ...head],
        rows: KINDS.map((name) => [
          name,
          ...sizes.map((size) => {
            const [id, smallest] = [`${name}, ${size}`, `${name}, ${sizes[0]}`];
            return `${samples.median(id, "time", 1)} (×${samples.ratio(id, smallest, "time")})`;
          }),
        ]),
      },
      {
        name: "scale-memory",
        title: "Memory as the inventory grows",
        text: `Megabytes of the process that measures the pages above, after those of each size.`,
        head: ["pets", ...head],
        rows: ["heap", "resident", "file"].map((figure) => [
          figure,
          ...sizes.map((size) => (Number(memory.median(String(size), figure)) / 1e6).toFixed(1)),
        ]),
      },
    ];
  },
};
