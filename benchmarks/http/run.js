// Compares the pet store over HTTP with the floor, its peers and the ceiling, in one run:
//   node benchmarks/http/run.js [--rounds 5] [--seconds 3] [--pets 100000] [--only petstore,floor]
// Every round starts each server anew on a copy of the same database; ratios are within a round.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { load } from "./load.js";
import { seed } from "./seed.js";
import { withServer } from "./server-process.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    pets: { type: "string", default: "100000" },
    only: { type: "string" },
    json: { type: "boolean" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

/** @type {{ name: string, server: string, synchronous: string, operations: readonly import("./load.js").Operation[] }[]} */
const contestants = [
  { name: "floor", server: "floor", synchronous: "FULL", operations: ["list", "get", "create"] },
  {
    name: "pet store",
    server: "petstore",
    synchronous: "FULL",
    operations: ["list", "get", "create"],
  },
  { name: "floor, NORMAL", server: "floor", synchronous: "NORMAL", operations: ["create"] },
  {
    name: "fastify",
    server: "fastify",
    synchronous: "FULL",
    operations: ["list", "get", "create"],
  },
  { name: "hono", server: "hono", synchronous: "FULL", operations: ["list", "get", "create"] },
  {
    name: "express",
    server: "express",
    synchronous: "FULL",
    operations: ["list", "get", "create"],
  },
  { name: "constant", server: "constant", synchronous: "FULL", operations: ["list"] },
];

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const theirs = join(folder, "theirs.db");
const ours = join(folder, "ours.db");
await seed("floor", theirs, Number(values.pets));
const key = await seed("petstore", ours, Number(values.pets));

/** @type {Map<string, number[]>} */
const ratios = new Map();
/** @type {Map<string, number[]>} */
const rates = new Map();
const only = values.only?.split(",");
for (let round = 0; round < rounds; round += 1) {
  for (const operation of /** @type {const} */ (["list", "get", "create"])) {
    let floor = Number.NaN;
    for (const { name, server, synchronous, operations } of contestants) {
      if (!operations.includes(operation)) continue;
      if (only && !only.includes(server)) continue;
      const database = join(folder, "run.db");
      for (const end of ["", "-wal", "-shm"]) rmSync(database + end, { force: true });
      const seeded = server === "petstore" ? ours : theirs;
      for (const end of ["", "-wal"]) copyFileSync(seeded + end, database + end);
      const environment = { DATABASE: database, SYNCHRONOUS: synchronous, API_KEY: key };
      const rate = await withServer(server, environment, async (url) => {
        await load(url, operation, key, 1);
        return load(url, operation, key, seconds);
      });
      if (name === "floor") floor = rate;
      push(rates, `${operation} ${name}`, rate);
      push(ratios, `${operation} ${name}`, rate / floor);
      console.error(
        `${round} ${operation} ${name}: ${rate.toFixed(0)} (${(rate / floor).toFixed(2)})`,
      );
    }
  }
}
rmSync(folder, { recursive: true });
console.log(
  JSON.stringify(
    [...ratios].map(([name, all]) => ({
      name,
      ratio: median(all),
      rate: median(rates.get(name) ?? []),
    })),
    null,
    2,
  ),
);

/**
 * @param {Map<string, number[]>} into
 * @param {string} name
 * @param {number} value
 */
function push(into, name, value) {
  into.set(name, [...(into.get(name) ?? []), value]);
}

/** @param {readonly number[]} all */
function median(all) {
  const sorted = all.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
