// Shows where the time of a request goes, in the pet store and in the floor, by Node's own profiler:
//   node benchmarks/profile/run.js [--seconds 4] [--pets 100000]
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
    seconds: { type: "string", default: "4" },
    pets: { type: "string", default: "100000" },
  },
});
const seconds = Number(values.seconds);
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

for (const connections of [32, 1]) {
  /** @type {string[][]} */
  const rows = [];
  for (const server of /** @type {const} */ (["floor", "petstore"])) {
    const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
    const database = join(folder, "pets.db");
    const key = await seed(server, database, Number(values.pets));
    for (const operation of /** @type {const} */ (["list", "get", "create"])) {
      const profiles = join(folder, operation);
      const flags = `--cpu-prof --cpu-prof-interval ${SAMPLING_MICROSECONDS} --cpu-prof-dir=${profiles}`;
      const rate = await withServer(
        server,
        { DATABASE: database },
        (url) => load(url, operation, key, seconds, connections),
        flags.split(" "),
      );
      const profile = readProfile(profiles);
      const times = timeByOwner(profile);
      const busy = OWNERS.map((owner) => (times.get(owner) ?? 0) / (rate * seconds));
      rows.push([
        `${operation}, ${server === "floor" ? "floor" : "pet store"}`,
        ...busy.map((time) => (time < 0.05 ? "" : time.toFixed(1))),
        busy.reduce((sum, time) => sum + time, 0).toFixed(1),
        (1_000_000 / rate).toFixed(1),
      ]);
      if (server === "petstore" && connections === 32) {
        drawFlameGraph(`flame-${operation}.svg`, `petstore: ${operation}`, profile, rate * seconds);
      }
    }
    rmSync(folder, { recursive: true });
  }

  const graphs =
    "As graphs: [list](flame-list.svg), [get](flame-get.svg), [create](flame-create.svg).";
  writeResults(
    connections === 1 ? "profile-one" : "profile",
    connections === 1
      ? "Where the time of a request goes, over one connection"
      : "Where the time of a request goes",
    `Microseconds of one request, by the code that spends them, from ${seconds} s of Node's CPU profiler each, with the start of the server; ${counted(connections)}, ${Number(values.pets).toLocaleString("en")} pets. SQLite's own time, with its syncs, is in storage-sqlite, or in "SQLite by hand". The last column is the time from one response to the next; what is missing in the sum is the client's time and the kernel's. ${connections === 1 ? "" : graphs}`.trim(),
    ["", ...OWNERS, "together", "from response to response"],
    rows,
  );
}

/** @param {number} connections */
function counted(connections) {
  return connections === 1 ? "one connection" : `${connections} connections`;
}
