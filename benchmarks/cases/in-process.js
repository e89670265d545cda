// The engine without a network, beside raw prepared statements on the same rows.
import { join } from "node:path";
import { Database } from "../better-sqlite3.js";
import { makeFolder } from "../instrument/servers.js";
import { fill, issue, openStore } from "../instrument/store.js";
import { compareWork, repeat, repeatBy } from "../instrument/turns.js";

/** @import { Case } from "../cases.js" */

const CALLERS = 32;

/** @type {Case} */
export const inProcess = {
  name: "in-process",
  measures: "a call of the engine beside raw prepared statements, by one caller and by 32",
  defaults: { rounds: 7, seconds: 0, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: () => 12,
  run: async ({ rounds, operations, pets }) => {
    const filename = join(makeFolder(), "pets.db");
    const store = await openStore(filename);
    await fill(store, pets);
    const caller = store.as(await issue(store));
    const raw = prepareRaw(filename);
    const idOf = (/** @type {number} */ index) => ((index * 7_919) % pets) + 1;
    const pet = { name: "Rex", categoryId: 7n };
    /** @type {Record<string, readonly [plain: (index: number) => unknown, ours: (index: number) => unknown]>} */
    const calls = {
      list: [() => raw.list.all(20), () => caller.listPets()],
      get: [(index) => raw.find.get(idOf(index)), (index) => caller.getPet(idOf(index))],
      create: [() => raw.insert.run("Rex", 7, "available"), () => caller.createPet(pet)],
    };
    const rows = [];
    for (const operation of operations) {
      const [plain, ours] = calls[operation] ?? [idOf, idOf];
      const times = operation === "get" ? 9_600 : 3_200;
      const byHand = (/** @type {number} */ index) => {
        raw.charge.immediate();
        plain(index);
      };
      const samples = await compareWork(
        [
          { name: "raw", times, work: repeat(plain) },
          { name: "by hand", times, work: repeat(byHand) },
          { name: "alone", times, work: repeatBy(1, ours) },
          { name: "together", times, work: repeatBy(CALLERS, ours) },
        ],
        rounds,
      );
      const cell = (/** @type {string} */ name) =>
        `${samples.median(name, "time", 2)} (×${samples.ratio(name, "raw", "time")})`;
      const raws = samples.median("raw", "time", 2);
      rows.push([operation, raws, ...["by hand", "alone", "together"].map(cell)]);
    }
    return [
      {
        name: "in-process",
        title: "In process, against raw prepared statements",
        text: `Microseconds a call on ${pets.toLocaleString("en")} pets; medians of ${rounds} interleaved rounds; × raw, within a round (lower is better). "By hand" commits what a key has used, one number, in a transaction before the raw statement, and checks nothing: each process that shares the file then sees it, and it survives the process. Ours does that and everything else; callers that come together share the commit.`,
        head: ["operation", "raw", "usage kept by hand", "ours, alone", `ours, ${CALLERS} callers`],
        rows,
      },
    ];
  },
};

/**
 * The statements, without a key, limits and validation; and `charge`, which reads the key's usage, raises and commits it,
 * for who wants no more than that it is kept.
 * @param {string} filename
 */
function prepareRaw(filename) {
  const raw = new Database(filename);
  raw.pragma("synchronous = FULL");
  raw.exec(
    "create table raw_pets (id integer primary key autoincrement, name text not null, category_id integer not null, status text not null) strict",
  );
  const meter = new Database(filename);
  meter.pragma("synchronous = NORMAL");
  meter.exec("create table raw_usage (key text primary key, used integer not null) strict");
  meter.exec("insert into raw_usage values ('key', 0)");
  const used = meter.prepare("select used from raw_usage where key = ?").pluck();
  const use = meter.prepare("update raw_usage set used = ? where key = ?");
  return {
    list: raw.prepare("select id, name, category_id, status from pets order by id limit ?"),
    find: raw.prepare("select id, name, category_id, status from pets where id = ?"),
    insert: raw.prepare("insert into raw_pets (name, category_id, status) values (?, ?, ?)"),
    charge: meter.transaction(() => use.run(Number(used.get("key")) + 1, "key")),
  };
}
