// Ways to charge a key that several servers share, in bare statements on one PostgreSQL:
//   node benchmarks/postgres/hot-path.js [--rounds 5] [--milliseconds 1000]
// "read first" reads the usage and its stamp, then writes where the stamp is still that. "remembered" writes
// with the stamp of its own last write, and reads only when that was lost. "remembered until lost" is what
// the storage does: after a lost write it reads first, for ten seconds. A lock for the whole transaction is
// the textbook way.
import { parseArgs } from "node:util";
import pg from "pg";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { startDatabase } from "./database.js";
import { startNetwork } from "./network.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    milliseconds: { type: "string", default: "1000" },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.milliseconds);
const KEYS = 100;

const database = await startDatabase();
await database.query(
  "create table usage (key_id text primary key, stamp bigint not null, used bigint not null) with (fillfactor = 70)",
);
await database.query(
  `insert into usage select 'key ' || n, 0, 0 from generate_series(0, ${KEYS - 1}) as n`,
);

const read = {
  name: "read",
  text: "select stamp::text, used::text from usage where key_id = $1",
};
const lock = {
  name: "lock",
  text: "select stamp::text, used::text from usage where key_id = $1 for no key update",
};
const write = {
  name: "write",
  text: `update usage set stamp = $3, used = $4
    where key_id = (select key_id from usage where key_id = $1 for no key update skip locked) and stamp = $2
    returning set_config('synchronous_commit', 'off', true)`,
};

/** @typedef {{ stamp: string, used: string }} Usage */
/** @typedef {{ usages: Map<string, Usage>, isPaused: boolean }} Memory of one server */
/** @typedef {(client: pg.Client, key: string, memory: Memory) => Promise<boolean>} Way resolves to whether it charged */

/** @param {pg.Client} client @param {string} key @param {Usage | undefined} usage */
async function writeUsage(client, key, usage) {
  if (usage === undefined) throw new Error("no such key");
  const next = {
    stamp: String(Math.floor(Math.random() * 2 ** 52)),
    used: String(Number(usage.used) + 1),
  };
  const { rowCount } = await client.query({
    ...write,
    values: [key, usage.stamp, next.stamp, next.used],
  });
  return rowCount === 1 ? next : undefined;
}

/** @type {Way} */
async function chargeRemembered(client, key, { usages }) {
  let usage = usages.get(key);
  if (usage === undefined) {
    /** @type {pg.QueryResult<Usage>} */
    const { rows } = await client.query({ ...read, values: [key] });
    usage = rows[0];
  }
  const next = await writeUsage(client, key, usage);
  if (next) usages.set(key, next);
  else usages.delete(key);
  return next !== undefined;
}

/** @type {Record<string, Way>} */
const ways = {
  "read first": async (client, key) => {
    /** @type {pg.QueryResult<Usage>} */
    const { rows } = await client.query({ ...read, values: [key] });
    return (await writeUsage(client, key, rows[0])) !== undefined;
  },
  remembered: chargeRemembered,
  "remembered until lost": async (client, key, memory) => {
    if (memory.isPaused) memory.usages.clear();
    const isCharged = await chargeRemembered(client, key, memory);
    // A round is shorter than the ten seconds.
    if (!isCharged) memory.isPaused = true;
    return isCharged;
  },
  "a lock": async (client, key) => {
    await client.query("begin");
    /** @type {pg.QueryResult<Usage>} */
    const { rows } = await client.query({ ...lock, values: [key] });
    const [usage] = rows;
    await client.query({
      name: "locked write",
      text: "update usage set stamp = $2, used = $3 where key_id = $1 returning set_config('synchronous_commit', 'off', true)",
      values: [key, usage?.stamp, Number(usage?.used) + 1],
    });
    await client.query("commit");
    return true;
  },
};

const places = [
  { name: "1 server", servers: 1, isAffine: false },
  { name: "4 servers, each key on one of them", servers: 4, isAffine: true },
  { name: "4 servers, each key on all of them", servers: 4, isAffine: false },
];
const rows = [];
for (const roundTrip of [0, 1]) {
  const network = roundTrip > 0 ? await startNetwork(database, roundTrip) : undefined;
  for (const place of places) {
    /** @type {Map<string, { rate: number, cpu: number }[]>} */
    const measured = new Map();
    for (let round = 0; round < rounds; round += 1)
      for (const [name, way] of Object.entries(ways))
        measured.set(name, [
          ...(measured.get(name) ?? []),
          await sample(way, place, network?.url ?? database.url),
        ]);
    const first = measured.get("read first") ?? [];
    for (const [name, all] of measured) {
      const times = (/** @type {"rate" | "cpu"} */ field) =>
        median(all.map((one, round) => one[field] / (first[round]?.[field] ?? NaN))).toFixed(2);
      rows.push([
        ...[roundTrip > 0 ? `+ ${roundTrip} ms` : "none added", place.name, name],
        ...[median(all.map(({ rate }) => rate)).toFixed(0), times("rate")],
        ...[median(all.map(({ cpu }) => cpu)).toFixed(0), times("cpu")],
      ]);
    }
  }
  network?.stop();
}
await database.stop();
writeResults(
  "postgres-hot-path",
  "Ways to charge a key in PostgreSQL",
  `Bare statements on ${KEYS} keys, one charge at a time by each server; a charge that another server made void is made again. Medians of ${rounds} rounds of ${milliseconds} ms; × is the ratio to "read first" within a round. PostgreSQL's processor time is for one charge.`,
  ["network", "servers", "way", "charges/s", "×", "PostgreSQL, µs", "×"],
  rows,
);

/** @param {Way} way @param {{ servers: number, isAffine: boolean }} place @param {string} url */
async function sample(way, { servers, isAffine }, url) {
  const clients = await Promise.all(
    Array.from({ length: servers }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  const before = database.cpuTime();
  const start = performance.now();
  let charges = 0;
  await Promise.all(
    clients.map(async (client, server) => {
      /** @type {Memory} */
      const memory = { usages: new Map(), isPaused: false };
      while (performance.now() - start < milliseconds) {
        const any = Math.floor(Math.random() * KEYS);
        const key = `key ${isAffine ? any - (any % servers) + server : any}`;
        while (!(await way(client, key, memory)));
        charges += 1;
      }
    }),
  );
  const elapsed = performance.now() - start;
  const cpu = (database.cpuTime() - before) / charges;
  await Promise.all(clients.map((client) => client.end()));
  return { rate: (charges / elapsed) * 1_000, cpu };
}
