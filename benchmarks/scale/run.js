// How the store does as pets and keys grow in number:
//   npm run build && node benchmarks/scale/run.js [--large] [--keys 100000]
// --large also measures 5,000,000 pets. Each size is measured in a fresh process.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-results.js";
import { fill, openStore } from "./seed.js";

const { values } = parseArgs({
  options: {
    large: { type: "boolean", default: false },
    keys: { type: "string", default: "100000" },
  },
});
const sizes = [1_000, 100_000, 1_000_000, ...(values.large ? [5_000_000] : [])];
const folder = mkdtempSync(join(tmpdir(), "petstore-scale-"));
const filename = join(folder, "pets.db");

/** @type {{ pets: number, micros: Record<string, number>, heapUsed: number, rss: number, file: number }[]} */
const measured = [];
let present = 0;
for (const pets of sizes) {
  const store = await openStore(filename);
  await fill(store, present, pets);
  await store.close();
  present = pets;
  const pages = /** @type {{ micros: Record<string, number>, heapUsed: number, rss: number }} */ (
    inFreshProcess("pages.js", filename, pets)
  );
  measured.push({ pets, file: statSync(filename).size, ...pages });
}

const [smallest] = measured;
writeResults(
  "scale-pages",
  "Pages as the inventory grows",
  "Microseconds for a page of 20 that is not held in memory, in process on SQLite, and × the same with 1,000 pets; deep: after half of all ids; 1 in 20 pets is sold.",
  ["page", ...measured.map(({ pets }) => `${pets.toLocaleString("en")} pets`)],
  Object.keys(smallest?.micros ?? {}).map((kind) => [
    kind,
    ...measured.map(({ micros }) => {
      const time = micros[kind] ?? NaN;
      return `${time.toFixed(1)} (×${(time / (smallest?.micros[kind] ?? NaN)).toFixed(2)})`;
    }),
  ]),
);
writeResults(
  "scale-memory",
  "Memory as the inventory grows",
  "Megabytes of a fresh process after 25,000 pages.",
  ["memory", ...measured.map(({ pets }) => `${pets.toLocaleString("en")} pets`)],
  [
    ["heap", ...measured.map(({ heapUsed }) => megabytes(heapUsed))],
    ["resident", ...measured.map(({ rss }) => megabytes(rss))],
    ["file", ...measured.map(({ file }) => megabytes(file))],
  ],
);

const keys = Number(values.keys);
const places = { memory: "memory", SQLite: join(folder, "keys.db") };
writeResults(
  "scale-keys",
  `Memory for each of ${keys.toLocaleString("en")} active keys`,
  "Bytes for each key in a fresh process, after collecting garbage: each key was issued there and has made a request.",
  ["storage", "issued", "active", "resident"],
  Object.entries(places).map(([name, place]) => {
    const { issued, active, resident } =
      /** @type {{ issued: number, active: number, resident: number }} */ (
        inFreshProcess("keys.js", place, keys)
      );
    return [name, issued.toFixed(0), active.toFixed(0), resident.toFixed(0)];
  }),
);
rmSync(folder, { recursive: true });

/**
 * What a script prints, as JSON.
 * @param {string} script
 * @param {string} place
 * @param {number} count
 * @returns {unknown}
 */
function inFreshProcess(script, place, count) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const output = execFileSync(process.execPath, ["--expose-gc", file, place, String(count)]);
  return JSON.parse(output.toString("utf8"));
}

/** @param {number} bytes */
function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
