// The pet store on PostgreSQL, against a floor on the same database and another limiter, in one run:
//   node benchmarks/postgres/run.js [--rounds 5] [--seconds 3] [--large]
// Load, servers and PostgreSQL share the cores. fsync is on. --large adds a table of 5,000,000 pets.
import { parseArgs } from "node:util";
import { RateLimiterPostgres } from "rate-limiter-flexible";
import pg from "pg";
import { createPetStore } from "@petstore/core";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { withServer } from "../http/server-process.js";
import { startDatabase } from "./database.js";
import { load } from "./load.js";
import { fill, openStorage, seed } from "./seed.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    large: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const extent = { seconds: Number(values.seconds), connections: 32, pets: 100_000 };
const servers = /** @type {const} */ (["floor", "petstore"]);
const operations = /** @type {const} */ (["list", "get", "create"]);
const KEY_COUNTS = [1, 100];
const CALLERS = 32;
const LIMIT = 2 ** 31 - 1;

const database = await startDatabase();
try {
  const keys = await seed(database, extent.pets, Math.max(...KEY_COUNTS));
  await compareServers(keys);
  await compareLimiters(keys);
  await comparePages();
} finally {
  await database.stop();
}
// The other limiter leaves timers behind.
process.exit();

/** @param {readonly string[]} keys */
async function compareServers(keys) {
  /** @typedef {{ rate: number, p99: number, cpu: number, log: number }} Measured */
  /** @type {Map<string, Measured[]>} */
  const measured = new Map();
  const loads = operations.flatMap((operation) =>
    KEY_COUNTS.map((count) => /** @type {const} */ ([operation, count])),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [operation, count] of loads) {
      const used = keys.slice(0, count);
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const one = await withServer(
          `../../postgres/servers/${server}`,
          { DATABASE: database.url },
          async (url) => {
            await load(url, operation, used, { ...extent, seconds: 1 });
            await database.query("checkpoint");
            const [cpu, log] = [database.cpuTime(), await database.logBytes()];
            const { rate, requests, p99 } = await load(url, operation, used, extent);
            return {
              ...{ rate, p99, cpu: (database.cpuTime() - cpu) / requests },
              log: ((await database.logBytes()) - log) / requests,
            };
          },
        );
        const name = `${operation} ${count} ${server}`;
        console.error(round, name, one);
        measured.set(name, [...(measured.get(name) ?? []), one]);
      }
    }
  }
  const figure = (
    /** @type {string} */ name,
    /** @type {keyof Measured} */ field,
    /** @type {number} */ digits,
  ) => median((measured.get(name) ?? []).map((one) => one[field])).toFixed(digits);
  writeResults(
    "postgres-http",
    "On PostgreSQL, over HTTP",
    `One server process, ${extent.connections} keep-alive connections of wrk with one key or ${keys.length} keys in turn, ${extent.pets.toLocaleString("en")} pets; medians of ${rounds} rounds of ${extent.seconds} s; × is the ratio of the rates within a round (higher is better). The floor is bare node:http with a pool of 10 connections of pg and named statements: no key, no limits, no validation. PostgreSQL is the one from npm with its own settings, fsync on. Its processor time and its log (bytes) are for one request.`,
    [
      "operation",
      "keys",
      ...["server", "requests/s", "×", "p99, ms", "PostgreSQL, µs", "log, bytes"],
    ],
    loads.flatMap(([operation, count]) =>
      servers.map((server) => {
        const name = `${operation} ${count} ${server}`;
        const floor = measured.get(`${operation} ${count} floor`) ?? [];
        const ratios = (measured.get(name) ?? []).map(
          ({ rate }, round) => rate / (floor[round]?.rate ?? NaN),
        );
        return [
          ...[operation, String(count), server === "floor" ? "floor" : "pet store"],
          ...[figure(name, "rate", 0), median(ratios).toFixed(2), figure(name, "p99", 1)],
          ...[figure(name, "cpu", 0), figure(name, "log", 0)],
        ];
      }),
    ),
  );
}

/** @param {readonly string[]} keys */
async function compareLimiters(keys) {
  const store = createPetStore({ storage: await openStorage(database.url) });
  const callers = keys.map((key) => store.as(key));
  const pool = new pg.Pool({ connectionString: database.url, max: 10 });
  const [minute, day] = await Promise.all([
    createLimiter(pool, "m", 60),
    createLimiter(pool, "d", 86_400),
  ]);
  const contenders = [
    {
      name: "petstore",
      does: "key looked up, two windows together, bans",
      admit: (/** @type {number} */ key) => callers[key]?.admit(),
    },
    {
      name: "RateLimiterPostgres, two consumes",
      does: "two windows, one after the other",
      admit: (/** @type {number} */ key) =>
        minute.consume(`key ${key}`).then(() => day.consume(`key ${key}`)),
    },
  ];
  const rows = [];
  for (const callersAtOnce of [1, CALLERS]) {
    /** @type {Map<string, { elapsed: number, cpu: number }[]>} */
    const costs = new Map();
    for (let round = 0; round < rounds * 2; round += 1) {
      for (const { name, admit } of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const share = Math.ceil(2_000 / callersAtOnce);
        const start = performance.now();
        const before = process.cpuUsage();
        const database0 = database.cpuTime();
        await Promise.all(
          Array.from({ length: callersAtOnce }, async (_, caller) => {
            for (let call = 0; call < share; call += 1) await admit((caller + call) % keys.length);
          }),
        );
        const calls = share * callersAtOnce;
        const { user, system } = process.cpuUsage(before);
        const cpu = (user + system + database.cpuTime() - database0) / calls;
        const elapsed = ((performance.now() - start) * 1_000) / calls;
        if (round > 0) costs.set(name, [...(costs.get(name) ?? []), { elapsed, cpu }]);
      }
    }
    for (const { name, does } of contenders) {
      const all = costs.get(name) ?? [];
      const own = costs.get("petstore") ?? [];
      const times = (/** @type {"elapsed" | "cpu"} */ field) =>
        median(all.map((one, round) => one[field] / (own[round]?.[field] ?? NaN))).toFixed(2);
      rows.push([
        ...[name, does, String(callersAtOnce)],
        ...[median(all.map(({ elapsed }) => elapsed)).toFixed(0), times("elapsed")],
        ...[median(all.map(({ cpu }) => cpu)).toFixed(0), times("cpu")],
      ]);
    }
  }
  await store.close();
  await pool.end();
  writeResults(
    "postgres-admit",
    "Admitting a request, in PostgreSQL",
    `Microseconds a call, of ${keys.length} keys in turn, and × the cost relative to petstore; medians of ${rounds * 2 - 1} interleaved rounds of 2,000 calls. Processor time is that of this process and of PostgreSQL. rate-limiter-flexible writes with PostgreSQL's own synchronous_commit, as it does by default.`,
    ["limiter", "does", "callers", "elapsed", "×", "processor time", "×"],
    rows,
  );
}

/**
 * @param {pg.Pool} storeClient
 * @param {string} keyPrefix
 * @param {number} duration in seconds
 * @returns {Promise<RateLimiterPostgres>}
 */
function createLimiter(storeClient, keyPrefix, duration) {
  return new Promise((resolve, reject) => {
    const limiter = new RateLimiterPostgres(
      { storeClient, tableName: `limits_${keyPrefix}`, keyPrefix, points: LIMIT, duration },
      (/** @type {Error | undefined} */ error) => (error ? reject(error) : resolve(limiter)),
    );
  });
}

/** A page of 20 after any id, of a small and of a large inventory. */
async function comparePages() {
  const sizes = [1_000, values.large ? 5_000_000 : 500_000];
  const storages = [];
  for (const size of sizes) {
    const schema = `pets_${size}`;
    storages.push({ size, storage: await openStorage(database.url, schema) });
    await fill(database, schema, size);
  }
  /** @type {Map<number, number[]>} */
  const costs = new Map(sizes.map((size) => [size, []]));
  for (let round = 0; round <= rounds * 4; round += 1) {
    for (const { size, storage } of round % 2 === 0 ? storages : storages.toReversed()) {
      const start = performance.now();
      for (let page = 0; page < 500; page += 1) {
        const after = BigInt((page * 7_919_001 + round * 104_729) % (size - 20));
        const listed = await storage.pets.list({ limit: 20, after, status: undefined });
        if (listed.isErr()) throw new Error(listed.error.message);
      }
      if (round > 0) costs.get(size)?.push(((performance.now() - start) * 1_000) / 500);
    }
  }
  const [small] = sizes.map((size) => costs.get(size) ?? []);
  writeResults(
    "postgres-pages",
    "A page of a large inventory, in PostgreSQL",
    `Microseconds for a page of 20 after any id, one after the other; medians of ${rounds * 4} interleaved rounds of 500 pages; × is the ratio to the small inventory within a round.`,
    ["pets", "microseconds", "×"],
    sizes.map((size) => {
      const all = costs.get(size) ?? [];
      const ratios = all.map((cost, round) => cost / (small?.[round] ?? NaN));
      return [size.toLocaleString("en"), median(all).toFixed(0), median(ratios).toFixed(2)];
    }),
  );
  for (const { storage } of storages) await storage.close();
}
