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

/** @type {string[][]} */
const rows = [];
for (const server of /** @type {const} */ (["floor", "petstore"])) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const database = join(folder, "pets.db");
  const key = await seed(server, database, Number(values.pets));
  for (const operation of /** @type {const} */ (["list", "get", "create"])) {
    const profiles = join(folder, operation);
    const flags = `--cpu-prof --cpu-prof-interval ${SAMPLING_MICROSECONDS} --cpu-prof-dir=${profiles}`;
    const requests = await withServer(
      server,
      { DATABASE: database },
      async (url) => (await load(url, operation, key, seconds)) * seconds,
      flags.split(" "),
    );
    const profile = readProfile(profiles);
    const times = timeByOwner(profile);
    const busy = OWNERS.map((owner) => (times.get(owner) ?? 0) / requests);
    rows.push([
      `${operation}, ${server === "floor" ? "floor" : "pet store"}`,
      ...busy.map((time) => (time < 0.05 ? "" : time.toFixed(1))),
      busy.reduce((sum, time) => sum + time, 0).toFixed(1),
    ]);
    if (server === "petstore") {
      drawFlameGraph(`flame-${operation}.svg`, `petstore: ${operation}`, profile, requests);
    }
  }
  rmSync(folder, { recursive: true });
}

writeResults(
  "profile",
  "Where the time of a request goes",
  `Microseconds of one request, by the code that spends them, from ${seconds} s of Node's CPU profiler each, with the start of the server; 32 connections, ${Number(values.pets).toLocaleString("en")} pets. SQLite's own time is in storage-sqlite, or in "SQLite by hand". As graphs: [list](flame-list.svg), [get](flame-get.svg), [create](flame-create.svg).`,
  ["", ...OWNERS, "together"],
  rows,
);
