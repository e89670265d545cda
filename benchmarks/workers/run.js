// Compares servers of one worker with the same of several, in one run:
//   node benchmarks/workers/run.js [--rounds 5] [--seconds 3] [--workers 1,2] [--pets 100000]
// A load generator on the same cores takes its part of them, so servers that do less show how far one can
// come at all; and what a request costs in processor time tells whether workers hinder one another.
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
import { serverFile } from "../http/server-process.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { cpuTimeOf } from "./cpu-time.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    workers: { type: "string", default: `1,${Math.max(2, availableParallelism())}` },
    pets: { type: "string", default: "100000" },
  },
});
const counts = values.workers.split(",").map(Number);
const seconds = Number(values.seconds);
const operations = /** @type {const} */ (["list", "longPage", "get", "create"]);
/** @typedef {typeof operations[number]} Operation */

const command = fileURLToPath(new URL("../../packages/cli/bin/petstore.js", import.meta.url));
const cluster = fileURLToPath(new URL("cluster.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const ours = join(folder, "ours.db");
const theirs = join(folder, "theirs.db");
const key = await seed("petstore", ours, Number(values.pets));
await seed("floor", theirs, Number(values.pets));

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} database
 * @property {(workers: number) => string[]} args for Node
 * @property {(workers: number) => number} greetings how many lines with an address say that all listen
 * @property {readonly Operation[]} does
 */
/** @type {readonly Server[]} */
const servers = [
  {
    name: "petstore serve",
    database: ours,
    args: (workers) => [
      command,
      "serve",
      "--port",
      "0",
      "--database",
      ours,
      "--workers",
      `${workers}`,
    ],
    greetings: () => 1,
    does: operations,
  },
  {
    name: "floor",
    database: theirs,
    args: (workers) => [cluster, serverFile("floor"), `${workers}`],
    greetings: (workers) => workers,
    does: operations,
  },
  {
    name: "constant",
    database: theirs,
    args: (workers) => [cluster, serverFile("constant"), `${workers}`],
    greetings: (workers) => workers,
    does: ["list"],
  },
];

/** @typedef {{ rate: number, cost: number }} Measured requests a second, and microseconds of each */
/** @type {Map<string, Measured[]>} */
const measured = new Map();
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const operation of operations) {
    for (const server of servers.filter(({ does }) => does.includes(operation))) {
      for (const workers of counts) {
        const name = nameOf(server, operation, workers);
        const result = await measure(server, operation, workers);
        console.error(`${round} ${name}: ${result.rate.toFixed(0)}, ${result.cost.toFixed(1)} µs`);
        measured.set(name, [...(measured.get(name) ?? []), result]);
      }
    }
  }
}
rmSync(folder, { recursive: true });

const [first = 1] = counts;
writeResults(
  "workers",
  "With several workers",
  `Requests a second with N workers as a multiple of the same server's with ${first}, medians of the ratios of ${values.rounds} rounds of ${seconds} s (higher is better; in brackets the median rate, and the server's processor time for a request as a multiple of that with ${first}: lower is better, 1 where workers do not hinder one another). 32 connections for each worker, from one wrk on the same cores; ${Number(values.pets).toLocaleString("en")} pets in one file. list: always the first 20; long page: 100 after any id. The floor and "constant", an answer without a database, are served by as many processes of node:cluster: they show how much of a second core the load leaves to a server of that speed.`,
  ["server", "workers", "list", "long page", "get", "create"],
  servers.flatMap((server) =>
    counts.map((workers) => [
      server.name,
      String(workers),
      ...operations.map((operation) => cell(server, operation, workers)),
    ]),
  ),
);

/**
 * @param {Server} server
 * @param {Operation} operation
 * @param {number} workers
 */
function nameOf(server, operation, workers) {
  return `${server.name}, ${operation}, ${workers}`;
}

/**
 * @param {Server} server
 * @param {Operation} operation
 * @param {number} workers
 */
function cell(server, operation, workers) {
  const all = measured.get(nameOf(server, operation, workers)) ?? [];
  const alone = measured.get(nameOf(server, operation, first)) ?? [];
  if (all.length === 0) return "";
  const times = (/** @type {(one: Measured) => number} */ of) =>
    median(all.map((one, round) => of(one) / of(alone[round] ?? one))).toFixed(2);
  const rate = Math.round(median(all.map((one) => one.rate))).toLocaleString("en");
  return `${times((one) => one.rate)} (${rate}/s; ${times((one) => one.cost)})`;
}

/**
 * @param {Server} server
 * @param {Operation} operation
 * @param {number} workers
 * @returns {Promise<Measured>}
 */
async function measure({ args, database, greetings }, operation, workers) {
  const child = spawn(process.execPath, args(workers), {
    env: { ...process.env, NODE_ENV: "production", DATABASE: database },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = `http://127.0.0.1:${await portOf(child.stdout, greetings(workers))}`;
    await load(url, operation, key, 2, 32 * workers);
    const before = cpuTimeOf(child.pid);
    const rate = await load(url, operation, key, seconds, 32 * workers);
    return { rate, cost: (cpuTimeOf(child.pid) - before) / (rate * seconds) };
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
}

/**
 * The port that a server says it listens on, once it has said so as often as expected.
 * @param {import("node:stream").Readable} output
 * @param {number} times
 */
async function portOf(output, times) {
  let said = 0;
  for await (const line of createInterface(output)) {
    const [, port] = /(?:^|http:\S+:)(\d+)(?:\/v1|$)/.exec(line) ?? [];
    if (port === undefined) continue;
    said += 1;
    if (said === times) return port;
  }
  throw new Error("The server ended before it listened.");
}
