import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../report/median.js";
import { load } from "./load.js";
import { seed } from "./seed.js";
import { withServer } from "./server-process.js";

/**
 * A server that takes part. `node` is the path of the Node that runs it: this one when left out.
 * @typedef {{ name: string, server: string, synchronous: string, does: readonly import("./load.js").Operation[], node?: string }} Contestant
 */

/**
 * Compares servers: each round starts all of them anew on a copy of the same database, and its ratios to the one
 * that is named "floor" are taken within it.
 * @param {{ contestants: readonly Contestant[], operations: readonly import("./load.js").Operation[], pets: number, rounds: number, seconds: number }} options
 */
export async function compare({ contestants, operations, pets, rounds, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const theirs = join(folder, "theirs.db");
  const ours = join(folder, "ours.db");
  await seed("floor", theirs, pets);
  const key = await seed("petstore", ours, pets);

  /** @type {Map<string, number[]>} */
  const ratios = new Map();
  /** @type {Map<string, number[]>} */
  const rates = new Map();
  /** @type {Map<string, number[]>} */
  const starts = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const operation of operations) {
      const takingPart = contestants.filter(({ does }) => does.includes(operation));
      /** @type {Map<string, number>} */
      const inRound = new Map();
      // Each round begins with another one, so that the order favours nobody.
      for (const { name, server, synchronous, node } of rotated(takingPart, round)) {
        const database = join(folder, "run.db");
        for (const end of ["", "-wal", "-shm"]) rmSync(database + end, { force: true });
        const seeded = server === "petstore" || server === "serve" ? ours : theirs;
        for (const end of ["", "-wal"]) copyFileSync(seeded + end, database + end);
        const environment = { DATABASE: database, SYNCHRONOUS: synchronous, API_KEY: key };
        const rate = await withServer(
          server,
          environment,
          async (url, startup) => {
            push(starts, name, startup);
            await load(url, operation, key, 1);
            return load(url, operation, key, seconds);
          },
          [],
          node,
        );
        inRound.set(name, rate);
        console.error(`${round} ${operation} ${name}: ${rate.toFixed(0)}`);
      }
      for (const [name, rate] of inRound) {
        push(rates, `${operation} ${name}`, rate);
        push(ratios, `${operation} ${name}`, rate / (inRound.get("floor") ?? Number.NaN));
      }
    }
  }
  rmSync(folder, { recursive: true });
  return { ratios, rates, starts };
}

/**
 * @template T
 * @param {readonly T[]} all
 * @param {number} by
 */
function rotated(all, by) {
  const start = by % all.length;
  return [...all.slice(start), ...all.slice(0, start)];
}

/**
 * The median ratio, with the lowest, the highest and the median rate.
 * @param {string} name
 * @param {Map<string, number[]>} ratios
 * @param {Map<string, number[]>} rates
 */
export function cellOf(name, ratios, rates) {
  const all = ratios.get(name);
  if (all === undefined) return "";
  const [lowest, highest] = [Math.min(...all), Math.max(...all)].map((ratio) => ratio.toFixed(2));
  const rate = Math.round(median(rates.get(name) ?? [])).toLocaleString("en");
  return `${median(all).toFixed(2)} (${lowest} to ${highest}; ${rate}/s)`;
}

/**
 * @param {Map<string, number[]>} into
 * @param {string} name
 * @param {number} value
 */
function push(into, name, value) {
  into.set(name, [...(into.get(name) ?? []), value]);
}
