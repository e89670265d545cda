// What one caller notices, and what many callers notice of a server that is half busy: after a build
//   node benchmarks/latency/run.js [--rounds 4] [--seconds 1] [--only petstore,floor] [--operations get]
// The servers run in turns on one core, where the others are stopped meanwhile; the load runs on the other.
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { load, saturate } from "../http/load.js";
import { seed } from "../http/seed.js";
import { serverFile } from "../http/server-process.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { cpuTimeOf } from "../workers/cpu-time.js";
import { pin } from "./pin.js";
import { measureUndisturbed, MOST_STOLEN, TRIES } from "./undisturbed.js";

/** @import { ChildProcess } from "node:child_process" */

/** @typedef {{ name: string, url: string, child: ChildProcess }} Server */
/** @typedef {"list" | "get" | "create"} Operation */

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "1" },
    only: { type: "string", default: "floor,by-hand,petstore,polling,serve,fastify" },
    operations: { type: "string", default: "list,get,create" },
  },
});
/** The same code differs by up to a fifth between processes, so each round has new ones. */
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const PETS = 100_000;
const CONNECTIONS = 64;
/** A round is measured in slices, because the speed of a machine changes within seconds. */
const SLICES = 10;
/** Requests at random times are measured in longer slices, so that a slice has many. */
const LONG_SLICES = 5;
/** How much longer they take in all, because a hundredth of a slice counts. */
const AT_RANDOM = 4;
/** How much longer the load at saturation takes, so that its new connections do not show in the 99th percentile. */
const SATURATION = 4;
const NAMES = new Map([
  ["by-hand", "floor that counts"],
  ["petstore", "pet store"],
  ["polling", "pet store that polls"],
  ["serve", "petstore serve"],
]);
const operations = /** @type {const} */ (["list", "get", "create"]).filter((operation) =>
  values.operations.split(",").includes(operation),
);

pin(process.pid, 1);
const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const theirs = join(folder, "theirs.db");
const ours = join(folder, "ours.db");
await seed("floor", theirs, PETS);
const key = await seed("petstore", ours, PETS);
// The load has one core, which threads that collect its garbage would take from it. A large young generation makes
// collections rare.
const client = fork(fileURLToPath(new URL("client.js", import.meta.url)), {
  execArgv: ["--single-threaded-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
});

/** @type {Set<ChildProcess>} */
const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** @type {Map<string, number[]>} */
const measured = new Map();
/** @type {Record<Operation, number[]>} */
const arrivals = { list: [], get: [], create: [] };
/**
 * The shares of stolen processor time.
 * @type {{ oneConnection: number[], saturation: number[], atRandom: number[] }}
 */
const stolenShares = { oneConnection: [], saturation: [], atRandom: [] };
for (const operation of operations) {
  for (let round = 0; round < rounds; round += 1) {
    await measureRound(operation, round);
    console.error(`${round} ${operation}`);
  }
}
client.kill();
rmSync(folder, { recursive: true });

const ROUNDS = `${rounds} rounds, each with new processes of all servers, and each`;
const names = values.only.split(",").map((server) => NAMES.get(server) ?? server);
writeResults(
  "one-connection",
  "Over one connection",
  `Requests a second over one keep-alive connection as a multiple of the floor's, and the server's processor time for a request as a multiple of the floor's (lower is better); medians of the ratios of ${ROUNDS} of ${seconds} s, in brackets the median rate and microseconds. ${PETS.toLocaleString("en")} pets. All servers are measured in turns, in slices of a tenth of a round; they share one core, where the others are stopped meanwhile, and the load has another. A measurement is repeated, up to ${TRIES} times in all, while the host of the virtual machine takes more than ${MOST_STOLEN * 100} % of the processors' time; the least disturbed counts. ${disturbed(stolenShares.oneConnection)} All commit pets with synchronous=FULL. "Floor that counts" is the floor with one more transaction for each request, which counts it in one row at synchronous=NORMAL, and with the listed page kept in memory: it checks nothing.`,
  ["server", ...operations.flatMap((operation) => [operation, "processor"])],
  names.map((name) => [
    name,
    ...operations.flatMap((operation) => [
      `${relative(name, operation, "rate")} (${median(of(name, operation, "rate")).toFixed(0)}/s)`,
      `${relative(name, operation, "cpu")} (${median(of(name, operation, "cpu")).toFixed(0)} µs)`,
    ]),
  ]),
);
writeResults(
  "saturation",
  "The 99th percentile at saturation",
  `Milliseconds of the 99th percentile with 32 keep-alive connections that each send a request as soon as they have a response, and × the floor's; medians of ${ROUNDS} of ${seconds * SATURATION} s. Servers, cores and repetition as above. ${disturbed(stolenShares.saturation)}`,
  ["server", ...operations.flatMap((operation) => [operation, "×"])],
  names.map((name) => [
    name,
    ...operations.flatMap((operation) => [
      median(of(name, operation, "saturated p99")).toFixed(2),
      relative(name, operation, "saturated p99"),
    ]),
  ]),
);
writeResults(
  "open-loop",
  "Requests at random times",
  `Milliseconds from the time at which a request is due to the end of its response, and × the floor's; medians of the slices of ${ROUNDS} of ${seconds * AT_RANDOM} s in ${LONG_SLICES} slices, and of the ratios of slices that follow each other. Requests are due at random times (a Poisson process), whether or not earlier ones have their response, at half of the rate that the floor reaches: ${operations.map((operation) => `${operation} ${median(arrivals[operation]).toFixed(0)}/s`).join(", ")}. They use ${CONNECTIONS} connections, and those of the first 0.2 s of a slice do not count. Servers, cores and repetition as above. ${disturbed(stolenShares.atRandom)}`,
  ["operation", "server", "p50", "×", "p99", "×", "p99.9", "×"],
  operations.flatMap((operation) =>
    names.map((name) => [
      operation,
      name,
      ...["p50", "p99", "p99.9"].flatMap((quantile) => [
        median(of(name, operation, quantile)).toFixed(2),
        relative(name, operation, quantile),
      ]),
    ]),
  ),
);

/**
 * Starts each server, measures them in turns, and stops them.
 * @param {Operation} operation
 * @param {number} round
 */
async function measureRound(operation, round) {
  // With databases of their own, so that creates before do not count.
  const servers = await Promise.all(values.only.split(",").map(start));
  // Node goes on to optimise code for some seconds, in threads that share the core.
  for (const server of servers) {
    await load(server.url, operation, key, 5, CONNECTIONS);
    await reachedRate(server, operation, 2);
  }
  const [floor] = servers;
  const rate =
    floor === undefined ? 0 : (await load(floor.url, operation, key, 3, CONNECTIONS)) / 2;
  arrivals[operation].push(rate);
  for (let slice = 0; slice < SLICES; slice += 1) {
    for (const server of inTurns(servers, round + slice)) {
      runAlone(server, servers);
      await measureOneConnection(server, operation);
    }
  }
  for (const server of inTurns(servers, round)) {
    runAlone(server, servers);
    await measureSaturation(server, operation);
  }
  for (let slice = 0; slice < LONG_SLICES; slice += 1) {
    for (const server of inTurns(servers, round + slice)) {
      runAlone(server, servers);
      await measureAtRandom(server, operation, rate);
    }
  }
  for (const { child } of servers) {
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}

/**
 * Starts a server on a copy of its database, pinned to the servers' core.
 * @param {string} name
 * @returns {Promise<Server>}
 */
async function start(name) {
  const database = join(folder, `${name}.db`);
  const isPolling = name === "polling";
  const file = isPolling ? "petstore" : name;
  const seeded = file === "petstore" || file === "serve" ? ours : theirs;
  for (const end of ["", "-wal", "-shm"]) rmSync(database + end, { force: true });
  for (const end of ["", "-wal"]) {
    if (existsSync(seeded + end)) copyFileSync(seeded + end, database + end);
  }
  const environment = { NODE_ENV: "production", DATABASE: database, API_KEY: key };
  const child = spawn(process.execPath, [serverFile(file)], {
    env: { ...process.env, ...environment, ...(isPolling && { POLL: "1" }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  // A server that prints more must not wait for a reader.
  child.stdout.resume();
  pin(child.pid, 0);
  const [, port = ""] = /(\d+)(?:\/v1)?\s*$/m.exec(String(line)) ?? [];
  return { name: NAMES.get(name) ?? name, url: `http://127.0.0.1:${port}`, child };
}

/**
 * Stops the other servers, which share the core: after a load, Node goes on to optimise code and to collect garbage.
 * @param {Server} server
 * @param {readonly Server[]} servers
 */
function runAlone(server, servers) {
  for (const { child } of servers) child.kill(child === server.child ? "SIGCONT" : "SIGSTOP");
}

/**
 * @param {readonly Server[]} servers
 * @param {number} turn
 */
function inTurns(servers, turn) {
  const first = turn % servers.length;
  return [...servers.slice(first), ...servers.slice(0, first)];
}

/**
 * @param {Server} server
 * @param {Operation} operation
 */
async function measureOneConnection(server, operation) {
  const { name, child } = server;
  const { result, stolen } = await measureUndisturbed(async () => {
    const before = cpuTimeOf(child.pid);
    const { rate, requests } = await reachedRate(server, operation, seconds / SLICES);
    return { rate, cpu: (cpuTimeOf(child.pid) - before) / requests };
  });
  push(name, operation, "rate", result.rate);
  push(name, operation, "cpu", result.cpu);
  stolenShares.oneConnection.push(stolen);
}

/**
 * Loads a server over one connection. Resolves to its requests per second, and to the number of requests.
 * @param {Server} server
 * @param {Operation} operation
 * @param {number} duration in seconds
 */
async function reachedRate({ url }, operation, duration) {
  client.send({ url, operation, key, seconds: duration });
  /** @type {[number, number]} */
  const [rate, requests] = (await once(client, "message"))[0];
  return { rate, requests };
}

/**
 * @param {Server} server
 * @param {Operation} operation
 */
async function measureSaturation({ name, url }, operation) {
  writeDirtyPages();
  const { result, stolen } = await measureUndisturbed(() =>
    saturate(url, operation, key, seconds * SATURATION, 32),
  );
  push(name, operation, "saturated p99", result.p99);
  stolenShares.saturation.push(stolen);
}

/**
 * @param {Server} server
 * @param {Operation} operation
 * @param {number} rate of the arrivals
 */
async function measureAtRandom({ name, url }, operation, rate) {
  writeDirtyPages();
  const { result, stolen } = await measureUndisturbed(async () => {
    client.send({ url, operation, key, rate, seconds: (seconds * AT_RANDOM) / LONG_SLICES });
    /** @type {number[][]} */
    const [latencies = []] = await once(client, "message");
    return latencies;
  });
  pushQuantiles(name, operation, result);
  stolenShares.atRandom.push(stolen);
}

/** Otherwise the syncs of a server would wait for what the one before has left to be written. */
function writeDirtyPages() {
  spawnSync("sync");
}

/**
 * @param {string} name
 * @param {Operation} operation
 * @param {readonly number[]} latencies
 */
function pushQuantiles(name, operation, latencies) {
  const sorted = latencies.toSorted((one, other) => one - other);
  for (const [quantile, part] of /** @type {const} */ ([
    ["p50", 0.5],
    ["p99", 0.99],
    ["p99.9", 0.999],
  ])) {
    push(name, operation, quantile, sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
  }
}

/**
 * Says how much the machine's host disturbed the measurements.
 * @param {readonly number[]} stolen
 */
function disturbed(stolen) {
  const many = stolen.filter((share) => share > MOST_STOLEN).length;
  return `Of ${stolen.length} measurements, ${many} were disturbed in every try, the worst by ${(Math.max(...stolen) * 100).toFixed(0)} %.`;
}

/**
 * @param {string} name
 * @param {Operation} operation
 * @param {string} figure
 * @param {number} value
 */
function push(name, operation, figure, value) {
  const id = `${name} ${operation} ${figure}`;
  measured.set(id, [...(measured.get(id) ?? []), value]);
}

/**
 * @param {string} name
 * @param {Operation} operation
 * @param {string} figure
 */
function of(name, operation, figure) {
  return measured.get(`${name} ${operation} ${figure}`) ?? [];
}

/**
 * The median of the ratios to the floor, each within a slice or, at saturation, a round.
 * @param {string} name
 * @param {Operation} operation
 * @param {string} figure
 */
function relative(name, operation, figure) {
  const floor = of("floor", operation, figure);
  const ratios = of(name, operation, figure).map((value, index) => value / (floor[index] ?? NaN));
  return median(ratios).toFixed(2);
}
