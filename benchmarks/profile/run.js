// Shows where the time of a request goes, in the pet store and in the floor, by Node's own profiler:
//   node benchmarks/profile/run.js [--rounds 3] [--seconds 4] [--pets 100000]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { load } from "../http/load.js";
import { seed } from "../http/seed.js";
import { withServer } from "../http/server-process.js";
import { writeResults } from "../report/write-results.js";
import { readProfile, timeByOwner } from "./cpu-profile.js";
import { drawFlameGraph } from "./flame-graph.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "4" },
    pets: { type: "string", default: "100000" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const operations = /** @type {const} */ (["list", "get", "create"]);
const SAMPLING_MICROSECONDS = 250;

const OWNERS = [
  "sending",
  "Node",
  "http-adapter",
  "core",
  "storage-sqlite",
  "libraries",
  "SQLite by hand",
  "server",
  "garbage collector",
];

/** @typedef {{ rate: number, profile: import("./cpu-profile.js").Frame }} Profiled */

for (const connections of [32, 1]) {
  /** @type {Map<string, Profiled>} */
  const fastest = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const server of /** @type {const} */ (["floor", "petstore"])) {
      const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
      const database = join(folder, "pets.db");
      const key = await seed(server, database, Number(values.pets));
      for (const operation of operations) {
        const profiled = await profileOf(server, operation, database, key, connections);
        const name = `${operation} ${server}`;
        if (profiled.rate > (fastest.get(name)?.rate ?? 0)) fastest.set(name, profiled);
      }
      rmSync(folder, { recursive: true });
    }
  }

  if (connections === 32) {
    for (const operation of operations) {
      const { rate, profile } = found(fastest, `${operation} petstore`);
      drawFlameGraph(`flame-${operation}.svg`, `petstore: ${operation}`, profile, rate * seconds);
    }
  }
  writeResults(
    connections === 1 ? "profile-one" : "profile",
    `Where the time of a request goes, over ${counted(connections)}`,
    `Microseconds of one request, by the code that spends them, from Node's CPU profiler: of ${rounds} runs of ${seconds} s each, the fastest. ${Number(values.pets).toLocaleString("en")} pets. SQLite's own time, with its syncs, is in storage-sqlite, or in "SQLite by hand". The last column is the time from one response to the next; what is missing in the sum is the kernel's and the client's time.${connections === 1 ? "" : " As graphs: [list](flame-list.svg), [get](flame-get.svg), [create](flame-create.svg)."}`,
    ["", ...OWNERS, "together", "to the next response"],
    operations.flatMap((operation) => [
      row(`${operation}, floor`, found(fastest, `${operation} floor`)),
      row(`${operation}, pet store`, found(fastest, `${operation} petstore`)),
    ]),
  );
}

/**
 * @param {"floor" | "petstore"} server
 * @param {typeof operations[number]} operation
 * @param {string} database
 * @param {string} key
 * @param {number} connections
 * @returns {Promise<Profiled>}
 */
async function profileOf(server, operation, database, key, connections) {
  const profiles = mkdtempSync(join(tmpdir(), "petstore-profile-"));
  const flags = `--cpu-prof --cpu-prof-interval ${SAMPLING_MICROSECONDS} --cpu-prof-dir=${profiles}`;
  let start = 0;
  const rate = await withServer(
    server,
    { DATABASE: database },
    (url, startup) => {
      start = startup * 1_000;
      return load(url, operation, key, seconds, connections);
    },
    flags.split(" "),
  );
  const profile = readProfile(profiles, start);
  rmSync(profiles, { recursive: true });
  return { rate, profile };
}

/**
 * @param {string} name
 * @param {Profiled} profiled
 */
function row(name, { rate, profile }) {
  const times = timeByOwner(profile);
  const busy = OWNERS.map((owner) => (times.get(owner) ?? 0) / (rate * seconds));
  return [
    name,
    ...busy.map((time) => (time < 0.05 ? "" : time.toFixed(1))),
    busy.reduce((sum, time) => sum + time, 0).toFixed(1),
    (1_000_000 / rate).toFixed(1),
  ];
}

/**
 * @param {ReadonlyMap<string, Profiled>} fastest
 * @param {string} name
 */
function found(fastest, name) {
  const profiled = fastest.get(name);
  if (profiled === undefined) throw new Error(`${name} was not profiled`);
  return profiled;
}

/** @param {number} connections */
function counted(connections) {
  return connections === 1 ? "one connection" : `${connections} connections`;
}
