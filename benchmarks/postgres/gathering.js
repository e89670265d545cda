// What it saves that a charge waits a few turns of the event loop for others: the pet store on PostgreSQL over HTTP,
// as it is built and without that wait.
//   node benchmarks/postgres/gathering.js [--rounds 5] [--seconds 2]
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { withServer } from "../http/server-process.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { startDatabase } from "./database.js";
import { load } from "./load.js";
import { seed } from "./seed.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const PETS = 100_000;
const CONNECTIONS = 32;
const KEY_COUNTS = [1, 100];
const operations = /** @type {const} */ (["list", "get", "create"]);

/** The build, and the line in it that waits: there is no other way to be without it. */
const BUILD = new URL("../../packages/storage-postgres/dist/index.js", import.meta.url);
const WAITING = "    gatherTurns: GATHER_TURNS,\n";
const changed = new URL("without-gathering.js", BUILD);
const STORAGES = ["@petstore/storage-postgres", changed.href];

const built = readFileSync(BUILD, "utf8");
if (!built.includes(WAITING)) throw new Error(`no such line in the build: ${WAITING}`);
writeFileSync(changed, built.replace(WAITING, ""));

/** @typedef {{ rate: number, p99: number, cpu: number }} Measured */
/** @type {Map<string, Measured[]>} */
const measured = new Map();
const loads = operations.flatMap((operation) => KEY_COUNTS.map((count) => ({ operation, count })));
const database = await startDatabase();
try {
  const keys = await seed(database, PETS, Math.max(...KEY_COUNTS));
  for (let round = 0; round < rounds; round += 1) {
    for (const { operation, count } of loads) {
      const used = keys.slice(0, count);
      const extent = { seconds, connections: CONNECTIONS, pets: PETS };
      for (const storage of round % 2 === 0 ? STORAGES : STORAGES.toReversed()) {
        const environment = { DATABASE: database.url, STORAGE: storage };
        const one = await withServer(
          "../../postgres/servers/petstore",
          environment,
          async (url) => {
            await load(url, operation, used, { ...extent, seconds: 1 });
            const cpu = database.cpuTime();
            const { rate, p99, requests } = await load(url, operation, used, extent);
            return { rate, p99, cpu: (database.cpuTime() - cpu) / requests };
          },
        );
        const id = `${operation} ${count} ${storage}`;
        console.error(round, id, one);
        measured.set(id, [...(measured.get(id) ?? []), one]);
      }
    }
  }
} finally {
  rmSync(changed);
  await database.stop();
}

writeResults(
  "postgres-gathering",
  "Charges that wait for others, on PostgreSQL",
  `A charge waits a few turns of the event loop for others (\`storage-postgres/src/storage/usage-storage.ts\`), or it does not (plain). One server process, ${CONNECTIONS} keep-alive connections of wrk with one key or several in turn; medians of ${rounds} rounds of ${seconds} s; × is the ratio of the rates to the plain way within a round (higher is better). PostgreSQL's processor time is for one request.`,
  ["operation", "keys", "charges", "requests/s", "×", "p99, ms", "PostgreSQL, µs"],
  loads.flatMap(({ operation, count }) =>
    STORAGES.map((storage, index) => {
      const all = measured.get(`${operation} ${count} ${storage}`) ?? [];
      const plain = measured.get(`${operation} ${count} ${changed.href}`) ?? [];
      const ratios = all.map(({ rate }, round) => rate / (plain[round]?.rate ?? NaN));
      return [
        ...[operation, String(count), index === 0 ? "wait" : "at once (plain)"],
        ...[median(all.map(({ rate }) => rate)).toFixed(0), median(ratios).toFixed(2)],
        median(all.map(({ p99 }) => p99)).toFixed(1),
        median(all.map(({ cpu }) => cpu)).toFixed(0),
      ];
    }),
  ),
);
