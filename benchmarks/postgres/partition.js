// What the callers of one server notice while another server cannot reach PostgreSQL:
//   node benchmarks/postgres/partition.js [--rounds 9] [--seconds 3] [--callers 4]
// The first server has callers, then none, and then callers while its network passes nothing and closes no connection.
import { parseArgs } from "node:util";
import { withServer } from "../http/server-process.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { startDatabase } from "./database.js";
import { load } from "./load.js";
import { startNetwork } from "./network.js";
import { seed } from "./seed.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "3" },
    callers: { type: "string", default: "4" },
  },
});
const rounds = Number(values.rounds);
const callers = Number(values.callers);
const extent = { seconds: Number(values.seconds), connections: callers, pets: 100_000 };
const KEYS = 100;
const operations = /** @type {const} */ (["list", "get", "create"]);

/** @typedef {{ rate: number, p99: number }} Measured */
/** @type {Map<string, Measured[]>} */
const measured = new Map();
const database = await startDatabase();
const network = await startNetwork(database, 0);
const server = "../../postgres/servers/petstore";
try {
  const keys = await seed(database, extent.pets, KEYS);
  await withServer(server, { DATABASE: network.url }, (cut) =>
    withServer(server, { DATABASE: database.url }, async (other) => {
      for (let round = 0; round < rounds; round += 1) {
        for (const operation of operations) {
          const alone = () => load(other, operation, keys, extent);
          const both = async () => {
            // The server that is cut off responds with 503.
            const ignored = load(cut, operation, keys, extent).catch(() => undefined);
            const one = await alone();
            await ignored;
            return one;
          };
          push(`${operation} busy`, await both());
          push(`${operation} idle`, await alone());
          network.cut();
          push(`${operation} cut`, await both());
          network.restore();
          // The first server is back within this time.
          await load(other, operation, keys, { ...extent, seconds: 3 });
          console.error(round, operation);
        }
      }
    }),
  );
} finally {
  network.stop();
  await database.stop();
}

writeResults(
  "postgres-partition",
  "One of two servers without a network",
  `The 99th percentile in milliseconds (and requests a second) of a server on PostgreSQL while another server is busy, has no callers, or has callers and cannot reach PostgreSQL; ${callers} connections to each server, ${KEYS} keys in turn, medians of ${rounds} rounds of ${extent.seconds} s; × is the 99th percentile while the other is cut off against no callers there, within a round. Load, servers, network and PostgreSQL share the cores.`,
  ["operation", "the other busy", "without callers", "cut off", "×"],
  operations.map((operation) => [
    operation,
    ...["busy", "idle", "cut"].map(
      (state) => `${middle(operation, state, "p99", 1)} (${middle(operation, state, "rate", 0)}/s)`,
    ),
    median(
      of(operation, "cut").map(
        ({ p99 }, round) => p99 / (of(operation, "idle")[round]?.p99 ?? NaN),
      ),
    ).toFixed(2),
  ]),
);

/**
 * @param {string} name
 * @param {Measured} one
 */
function push(name, one) {
  measured.set(name, [...(measured.get(name) ?? []), one]);
}

/**
 * @param {string} operation
 * @param {string} state of the other server
 */
function of(operation, state) {
  return measured.get(`${operation} ${state}`) ?? [];
}

/**
 * @param {string} operation
 * @param {string} state of the other server
 * @param {keyof Measured} figure
 * @param {number} digits
 */
function middle(operation, state, figure, digits) {
  return median(of(operation, state).map((one) => one[figure])).toFixed(digits);
}
