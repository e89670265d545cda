// Compares the engine without a network with raw prepared statements on the same rows:
//   node benchmarks/in-process/run.js [--pets 100000] [--rounds 7]
// Raw: no key, no limits, no validation. By hand: the same, and the key's usage read, raised and committed
// before, as somebody would write it who wants no more than that it is kept. Ours: all checks, alone and
// with 32 callers at a time.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { Database } from "../better-sqlite3.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";

const { values } = parseArgs({
  options: {
    pets: { type: "string", default: "100000" },
    rounds: { type: "string", default: "7" },
  },
});
const count = Number(values.pets);
const rounds = Number(values.rounds);
const CALLERS = 32;

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const filename = join(folder, "pets.db");
const opened = await openSqliteStorage({ filename });
if (opened.isErr()) throw new Error(opened.error.message);
const store = createPetStore({ storage: opened.value });
for (let from = 0; from < count; from += 1_000) {
  await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      store.trusted.createPet({ name: `pet ${from + index}`, categoryId: index }),
    ),
  );
}
const limits = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
const issued = await store.keys.issue({ plan: "enterprise", limits });
if (issued.isErr()) throw new Error(issued.error.message);
const caller = store.as(issued.value.secret);

const raw = new Database(filename);
raw.pragma("synchronous = FULL");
const list = raw.prepare("select id, name, category_id, status from pets order by id limit ?");
const find = raw.prepare("select id, name, category_id, status from pets where id = ?");
raw.exec(
  "create table raw_pets (id integer primary key autoincrement, name text not null, category_id integer not null, status text not null) strict",
);
const insert = raw.prepare("insert into raw_pets (name, category_id, status) values (?, ?, ?)");

const meter = new Database(filename);
meter.pragma("synchronous = NORMAL");
meter.exec("create table raw_usage (key text primary key, used integer not null) strict");
meter.exec("insert into raw_usage values ('key', 0)");
const used = meter.prepare("select used from raw_usage where key = ?").pluck();
const use = meter.prepare("update raw_usage set used = ? where key = ?");
const charge = meter.transaction(() => use.run(Number(used.get("key")) + 1, "key"));

const randomId = (/** @type {number} */ index) => ((index * 7_919) % count) + 1;

/** @typedef {(index: number) => unknown} Call */
/** @type {Record<string, { calls: number, raw: Call, ours: Call }>} */
const operations = {
  list: { calls: 3_000, raw: () => list.all(20), ours: () => caller.listPets() },
  get: {
    calls: 10_000,
    raw: (index) => find.get(randomId(index)),
    ours: (index) => caller.getPet(randomId(index)),
  },
  create: {
    calls: 3_000,
    raw: () => insert.run("Rex", 7, "available"),
    ours: () => caller.createPet({ name: "Rex", categoryId: 7n }),
  },
};

const rows = [];
for (const [name, { calls, raw: callRaw, ours }] of Object.entries(operations)) {
  /** @type {{ raw: number[], byHand: number[], alone: number[], together: number[] }} */
  const times = { raw: [], byHand: [], alone: [], together: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const rawTime = await time(calls, () => {
      for (let index = 0; index < calls; index += 1) callRaw(index);
    });
    const byHandTime = await time(calls, () => {
      for (let index = 0; index < calls; index += 1) {
        charge.immediate();
        callRaw(index);
      }
    });
    const aloneTime = await time(calls, async () => {
      for (let index = 0; index < calls; index += 1) await ours(index);
    });
    const togetherTime = await time(calls, async () => {
      for (let index = 0; index < calls; index += CALLERS) {
        await Promise.all(Array.from({ length: CALLERS }, (_, caller_) => ours(index + caller_)));
      }
    });
    if (round === 0) continue; // warming up
    times.raw.push(rawTime);
    times.byHand.push(byHandTime);
    times.alone.push(aloneTime);
    times.together.push(togetherTime);
  }
  const ratio = (/** @type {number[]} */ all) =>
    median(all.map((each, round) => each / (times.raw[round] ?? Number.NaN)));
  rows.push([
    name,
    median(times.raw).toFixed(2),
    ...[times.byHand, times.alone, times.together].map(
      (all) => `${median(all).toFixed(2)} (×${ratio(all).toFixed(2)})`,
    ),
  ]);
}
raw.close();
meter.close();
await store.close();
rmSync(folder, { recursive: true });

writeResults(
  "in-process",
  "In process, against raw prepared statements",
  `Microseconds a call on ${count.toLocaleString("en")} pets; medians of ${rounds} interleaved rounds; × raw, within a round (lower is better). "By hand" commits what a key has used, one number, in a transaction before the raw statement, and checks nothing: each process that shares the file then sees it, and it survives the process. Ours does that and everything else; callers that come together share the commit.`,
  ["operation", "raw", "usage kept by hand", "ours, alone", `ours, ${CALLERS} callers`],
  rows,
);

/**
 * @param {number} calls
 * @param {() => unknown} work
 */
async function time(calls, work) {
  const start = performance.now();
  await work();
  return ((performance.now() - start) * 1_000) / calls;
}
