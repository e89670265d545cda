// Compares `petstore serve` with one worker and with several, in one run:
//   node benchmarks/workers/run.js [--rounds 3] [--seconds 2] [--workers 1,2] [--pets 100000]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { load } from "../http/load.js";
import { seed } from "../http/seed.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    workers: { type: "string", default: `1,${Math.max(2, availableParallelism())}` },
    pets: { type: "string", default: "100000" },
  },
});
const counts = values.workers.split(",").map(Number);
const operations = /** @type {const} */ (["list", "get", "create"]);
const command = fileURLToPath(new URL("../../packages/cli/bin/petstore.js", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const database = join(folder, "pets.db");
const key = await seed("petstore", database, Number(values.pets));

/** @type {Map<string, number[]>} */
const rates = new Map();
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const operation of operations) {
    for (const count of counts) {
      const rate = await withWorkers(count, async (url) => {
        await load(url, operation, key, 1);
        return load(url, operation, key, Number(values.seconds));
      });
      const name = `${operation} ${count}`;
      rates.set(name, [...(rates.get(name) ?? []), rate]);
    }
  }
}
rmSync(folder, { recursive: true });

const [first = 1] = counts;
writeResults(
  "workers",
  "With several workers",
  `Requests a second of \`petstore serve --workers N\` as a multiple of those with ${first}, medians of ${values.rounds} interleaved rounds of ${values.seconds} s (higher is better; in brackets the median rate). 32 connections of wrk, which takes a core of the same machine for itself; ${Number(values.pets).toLocaleString("en")} pets in one file.`,
  ["workers", ...operations],
  counts.map((count) => [
    String(count),
    ...operations.map((operation) => {
      const rate = median(rates.get(`${operation} ${count}`) ?? []);
      const ratio = rate / median(rates.get(`${operation} ${first}`) ?? []);
      return `${ratio.toFixed(2)} (${Math.round(rate).toLocaleString("en")})`;
    }),
  ]),
);

/**
 * @template T
 * @param {number} count
 * @param {(url: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
async function withWorkers(count, use) {
  const args = ["serve", "--port", "0", "--database", database, "--workers", String(count)];
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface(child.stdout)) {
      const [, url] = /(http:\S+)\/v1/.exec(line) ?? [];
      if (url !== undefined) return await use(url);
    }
    throw new Error("petstore serve ended before it listened");
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
}
