// The pet store on PostgreSQL. Load, servers and PostgreSQL share the cores. fsync is on.
import { compareAnew } from "../instrument/load.js";
import { withDatabase } from "../instrument/postgres.js";
import { rowsOf } from "../instrument/results.js";

/** @import { Case } from "../cases.js" */

const SERVERS = [
  { name: "floor", program: "floor-postgres" },
  { name: "pet store", program: "petstore" },
];
const KEY_COUNTS = [1, 100];
const CALLERS = 32;

/** @type {Case} */
export const postgres = {
  name: "postgres",
  measures: "requests a second on PostgreSQL over 32 connections, beside a floor",
  defaults: { rounds: 5, seconds: 3, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => 12 * (seconds + 2.5),
  run: async (options) => {
    const { rounds, seconds, operations, pets } = options;
    const rows = await withDatabase(pets, Math.max(...KEY_COUNTS), async (database, secrets) => {
      const loads = operations.flatMap((operation) =>
        KEY_COUNTS.map((count) => ({
          name: `${operation}, ${count}`,
          ...{ operation, keys: secrets.slice(0, count), pets, connections: CALLERS, seconds },
          settle: () => database.query("checkpoint"),
          counters: async () => ({ postgres: database.cpuTime(), log: await database.logBytes() }),
        })),
      );
      const place = { database: database.url };
      const samples = await compareAnew([SERVERS], loads, rounds, () => place);
      return loads.flatMap(({ name }) =>
        rowsOf(SERVERS, [name], (id, floor) => [
          ...[samples.median(id, "rate"), samples.ratio(id, floor, "rate")],
          samples.median(id, "p99", 1),
          ...["postgres", "log"].map((figure) => samples.median(id, figure)),
        ]).map((row) => [...name.split(", "), ...row]),
      );
    });
    return [
      {
        name: "postgres-http",
        title: "On PostgreSQL, over HTTP",
        text: `One server process, ${CALLERS} keep-alive connections of wrk with one key or ${KEY_COUNTS[1]} keys in turn, ${pets.toLocaleString("en")} pets; medians of ${rounds} rounds of ${seconds} s; × is the ratio of the rates within a round (higher is better). The floor is bare node:http with a pool of 10 connections of pg and named statements: no key, no limits, no validation. PostgreSQL is the one from npm with its own settings, fsync on. Its processor time and its log (bytes) are for one request.`,
        head: [
          ...["operation", "keys", "server", "requests/s", "×"],
          ...["p99, ms", "PostgreSQL, µs", "log, bytes"],
        ],
        rows,
      },
    ];
  },
};
