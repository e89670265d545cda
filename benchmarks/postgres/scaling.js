// 1, 2 and 4 servers on one PostgreSQL behind a network that adds 2 ms to each round trip, and what a
// simulation says of one key on up to 64:
//   node benchmarks/postgres/scaling.js [--rounds 5] [--seconds 3]
// The cores are shared by everything: few callers, so that they wait for the network and not for a core. On
// two cores, four servers wait for a core even so; behind a network that adds 10 ms they hardly do.
import { parseArgs } from "node:util";
import { withServer } from "../http/server-process.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { startDatabase } from "./database.js";
import { simulateHotKey } from "./hot-key.js";
import { load } from "./load.js";
import { startNetwork } from "./network.js";
import { seed } from "./seed.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const PETS = 100_000;
/** Callers of each server. */
const FEW = 1;
const MORE = 4;
/** What the network adds to a round trip, in milliseconds. */
const ROUND_TRIP = 2;
const LONG_ROUND_TRIP = 10;
const counts = [1, 2, 4];
const SIMULATED_SECONDS = 20;

/** What PostgreSQL and a server need for a charge beside the network, in milliseconds: measured here. */
const COSTS = { read: 0.25, write: 0.35, turn: 0.25, between: 0.5 };

const loads = /** @type {const} */ ([
  { operation: "get", keys: 100, callers: FEW, roundTrip: ROUND_TRIP },
  { operation: "get", keys: 100, callers: FEW, roundTrip: LONG_ROUND_TRIP },
  { operation: "get", keys: 100, callers: MORE, roundTrip: ROUND_TRIP },
  { operation: "create", keys: 100, callers: FEW, roundTrip: ROUND_TRIP },
  { operation: "create", keys: 100, callers: FEW, roundTrip: LONG_ROUND_TRIP },
  { operation: "create", keys: 100, callers: MORE, roundTrip: ROUND_TRIP },
  { operation: "list", keys: 1, callers: MORE, roundTrip: ROUND_TRIP },
]);

/** @typedef {{ rate: number, p99: number, cpu: number }} Measured */
/** @type {Map<string, Measured[]>} */
const measured = new Map();
const database = await startDatabase();
const networks = await Promise.all(
  [ROUND_TRIP, LONG_ROUND_TRIP].map(async (roundTrip) => ({
    roundTrip,
    ...(await startNetwork(database, roundTrip)),
  })),
);
try {
  const secrets = await seed(database, PETS, 100);
  for (let round = 0; round < rounds; round += 1) {
    for (const row of loads) {
      const { operation, keys, callers, roundTrip } = row;
      const { url = "" } = networks.find((network) => network.roundTrip === roundTrip) ?? {};
      for (const servers of counts) {
        const one = await withServers(servers, url, async (urls) => {
          const everywhere = async (/** @type {number} */ time) =>
            Promise.all(
              urls.map((each, index) =>
                load(each, operation, rotated(secrets.slice(0, keys), index * 25), {
                  seconds: time,
                  connections: callers,
                  pets: PETS,
                }),
              ),
            );
          await everywhere(1);
          const before = database.cpuTime();
          const all = await everywhere(seconds);
          const requests = all.reduce((sum, each) => sum + each.requests, 0);
          return {
            rate: all.reduce((sum, { rate }) => sum + rate, 0),
            p99: Math.max(...all.map(({ p99 }) => p99)),
            cpu: (database.cpuTime() - before) / requests,
          };
        });
        const id = idOf(row, servers);
        console.error(round, id, one);
        measured.set(id, [...(measured.get(id) ?? []), one]);
      }
    }
  }
} finally {
  for (const network of networks) network.stop();
  await database.stop();
}

writeResults(
  "postgres-scaling",
  "Several servers on one PostgreSQL",
  `Servers in processes of their own, behind a network that adds 2 or 10 ms to each round trip to PostgreSQL, with so many connections of callers to each; medians of ${rounds} rounds of ${seconds} s. "of linear" is the rate as a part of so many times the rate of one server, within a round (1 is linear). PostgreSQL's processor time is for one request, and × that with one server. Load, servers, network and PostgreSQL share the cores.`,
  [
    ...["load", "callers", "network, ms", "servers", "requests/s", "of linear"],
    ...["p99, ms", "PostgreSQL, µs", "×"],
  ],
  loads.flatMap((row) =>
    counts.map((servers) => {
      const { operation, keys, callers, roundTrip } = row;
      const all = measured.get(idOf(row, servers)) ?? [];
      const alone = measured.get(idOf(row, 1)) ?? [];
      const against = (/** @type {(one: Measured) => number} */ of) =>
        median(all.map((one, round) => of(one) / (alone[round] ? of(alone[round]) : NaN)));
      return [
        `${operation}, ${keys === 1 ? "one key" : `${keys} keys`}`,
        ...[callers, roundTrip, servers].map(String),
        ...[median(all.map(({ rate }) => rate)).toFixed(0)],
        (against(({ rate }) => rate) / servers).toFixed(2),
        median(all.map(({ p99 }) => p99)).toFixed(1),
        median(all.map(({ cpu }) => cpu)).toFixed(0),
        against(({ cpu }) => cpu).toFixed(2),
      ];
    }),
  ),
);

const simulated = (/** @type {number} */ servers, /** @type {number} */ roundTrip, atOnce = 32) =>
  simulateHotKey(
    { servers, roundTrip, callers: atOnce, ...COSTS },
    SIMULATED_SECONDS * 1_000,
    randomNumbers(servers),
  );
/** @param {number} servers */
const ratesOf = (servers) =>
  (measured.get(`list ${MORE} ${ROUND_TRIP} ${servers}`) ?? []).map(({ rate }) => rate);
writeResults(
  "postgres-hot-key-check",
  "The simulation beside what was measured",
  `One key, ${MORE} callers of each server, ${ROUND_TRIP} ms: requests a second as a multiple of one server's.`,
  ["servers", "measured", "simulated"],
  counts.map((servers) => [
    String(servers),
    median(ratesOf(servers).map((rate, round) => rate / (ratesOf(1)[round] ?? NaN))).toFixed(2),
    (simulated(servers, ROUND_TRIP, MORE).rate / simulated(1, ROUND_TRIP, MORE).rate).toFixed(2),
  ]),
);
writeResults(
  "postgres-hot-key",
  "One key on many servers, simulated",
  `Charges a second of one key, with 32 callers of each server, and in brackets the 99th percentile of a charge and the part of the charges that fail because other servers were faster for 2 s. ${SIMULATED_SECONDS} simulated seconds; PostgreSQL reads in ${COSTS.read} ms and writes in ${COSTS.write} ms, a server needs ${COSTS.turn} ms between two statements; it has a core for each.`,
  ["servers", ...[0.2, 1, 2, 5].map((roundTrip) => `${roundTrip} ms`)],
  [1, 2, 4, 8, 16, 32, 64].map((servers) => [
    String(servers),
    ...[0.2, 1, 2, 5].map((roundTrip) => {
      const { rate, p99, failed } = simulated(servers, roundTrip);
      const failures = failed > 0 ? `; ${(failed * 100).toFixed(1)} % fail` : "";
      return `${Math.round(rate).toLocaleString("en")} (${p99.toFixed(0)} ms${failures})`;
    }),
  ]),
);

/**
 * @param {typeof loads[number]} load
 * @param {number} servers
 */
function idOf({ operation, callers, roundTrip }, servers) {
  return `${operation} ${callers} ${roundTrip} ${servers}`;
}

/**
 * @param {number} count
 * @param {string} url
 * @param {(urls: readonly string[]) => Promise<Measured>} use
 * @param {readonly string[]} [started]
 * @returns {Promise<Measured>}
 */
function withServers(count, url, use, started = []) {
  if (started.length === count) return use(started);
  return withServer("../../postgres/servers/petstore", { DATABASE: url }, (each) =>
    withServers(count, url, use, [...started, each]),
  );
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

/** The same numbers in each run (mulberry32). @param {number} seed */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
