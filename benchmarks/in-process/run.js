// Compares the engine without a network with raw prepared statements on the same rows:
//   node benchmarks/in-process/run.js [--pets 100000] [--rounds 7]
// Raw: no key, no limits, no validation. Ours: all of it, alone and with 32 callers at a time.
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
const randomId = (/** @type {number} */ index) => ((index * 7_919) % count) + 1;

/** @type {Record<string, { calls: number, raw: (index: number) => unknown, ours: (index: number) => unknown }>} */
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
  /** @type {{ raw: number[], alone: number[], together: number[] }} */
  const times = { raw: [], alone: [], together: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const rawTime = await time(calls, () => {
      for (let index = 0; index < calls; index += 1) callRaw(index);
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
    times.alone.push(aloneTime);
    times.together.push(togetherTime);
  }
  rows.push({
    operation: name,
    raw: median(times.raw),
    alone: median(times.alone),
    together: median(times.together),
    aloneRatio: median(times.alone.map((each, round) => each / (times.raw[round] ?? Number.NaN))),
    togetherRatio: median(
      times.together.map((each, round) => each / (times.raw[round] ?? Number.NaN)),
    ),
  });
}
raw.close();
await store.close();
rmSync(folder, { recursive: true });

writeResults(
  "in-process",
  "In process, against raw prepared statements",
  `Microseconds a call on ${count.toLocaleString("en")} pets; medians of ${rounds} interleaved rounds; ratios within a round (lower is better).`,
  ["operation", "raw", "ours, alone", "ratio", `ours, ${CALLERS} callers`, "ratio"],
  rows.map(({ operation, raw: rawTime, alone, aloneRatio, together, togetherRatio }) => [
    operation,
    rawTime.toFixed(2),
    alone.toFixed(2),
    aloneRatio.toFixed(2),
    together.toFixed(2),
    togetherRatio.toFixed(2),
  ]),
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
