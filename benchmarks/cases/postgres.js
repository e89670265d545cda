// The pet store on PostgreSQL. Load, servers and PostgreSQL share the cores. fsync is on.
import { compareAnew } from "../instrument/load.js";
import { withDatabase } from "../instrument/postgres.js";
import { withoutLine } from "../instrument/store.js";

/** @import { Case, Options } from "../cases.js" */
/** @import { Database } from "../instrument/postgres.js" */
/** @import { Server } from "../instrument/servers.js" */

const STORE = { name: "pet store", program: "petstore" };
const KEY_COUNTS = [1, 100];
const CALLERS = 32;

/** @type {Case} */
export const postgresHttp = {
  name: "postgres",
  measures: "requests a second on PostgreSQL over 32 connections, beside a floor",
  defaults: { rounds: 5, seconds: 3, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => 12 * (seconds + 2.5),
  run: async (options) => {
    const { rounds, seconds, pets } = options;
    const servers = [{ name: "floor", program: "floor-postgres" }, STORE];
    const rows = await compare(servers, "floor", options, (samples, id) => [
      samples.median(id, "log"),
    ]);
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

/** The line of the build that lets charges wait for others. */
const WAITING = "    gatherTurns: GATHER_TURNS,\n";

/** @type {Case} */
export const postgresGathering = {
  name: "postgres-gathering",
  measures:
    "what it saves on PostgreSQL that a charge waits a few turns of the event loop for others",
  defaults: { rounds: 5, seconds: 2, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => 12 * (seconds + 2.5),
  run: (options) =>
    withoutLine("storage-postgres", WAITING, async (href) => {
      const { rounds, seconds } = options;
      const plain = "at once (plain)";
      const servers = [
        { ...STORE, name: "wait" },
        { ...STORE, name: plain, env: { STORAGE: href } },
      ];
      return [
        {
          name: "postgres-gathering",
          title: "Charges that wait for others, on PostgreSQL",
          text: `A charge waits a few turns of the event loop for others (\`storage-postgres/src/storage/usage-storage.ts\`), or it does not (plain). One server process, ${CALLERS} keep-alive connections of wrk with one key or several in turn; medians of ${rounds} rounds of ${seconds} s; × is the ratio of the rates to the plain way within a round (higher is better). PostgreSQL's processor time is for one request.`,
          head: ["operation", "keys", "charges", "requests/s", "×", "p99, ms", "PostgreSQL, µs"],
          rows: await compare(servers, plain, options, () => []),
        },
      ];
    }),
};

/**
 * Compares servers with one key and with many. Returns the rows of a table.
 * @param {readonly Server[]} servers
 * @param {string} base
 * @param {Options} options
 * @param {(samples: import("../instrument/turns.js").Samples, id: string) => readonly string[]} more cells
 */
function compare(servers, base, { rounds, seconds, operations, pets }, more) {
  return withDatabase(pets, Math.max(...KEY_COUNTS), async (database, secrets) => {
    const loads = operations.flatMap((operation) =>
      KEY_COUNTS.map((count) => ({
        name: `${operation}, ${count}`,
        ...{ operation, keys: secrets.slice(0, count), pets, connections: CALLERS, seconds },
        settle: () => database.query("checkpoint"),
        counters: async () => ({ postgres: database.cpuTime(), log: await database.logBytes() }),
      })),
    );
    const samples = await compareAnew([servers], loads, rounds, () => ({ database: database.url }));
    return loads.flatMap(({ name: load }) =>
      servers.map(({ name }) => {
        const id = `${load}, ${name}`;
        return [
          ...[...load.split(", "), name, samples.median(id, "rate")],
          samples.ratio(id, `${load}, ${base}`, "rate"),
          ...[samples.median(id, "p99", 1), samples.median(id, "postgres")],
          ...more(samples, id),
        ];
      }),
    );
  });
}
