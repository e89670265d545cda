// The engine without a network, beside raw prepared statements on the same rows.
import { join } from "node:path";
import { makeFolder } from "../instrument/servers.js";
import { fill, issue, openStore } from "../instrument/store.js";
import { compareWork, repeat, repeatBy } from "../instrument/turns.js";
import { createCounter, openPets } from "../servers/pets-table.js";

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
    const folder = makeFolder();
    const store = await openStore(join(folder, "ours.db"));
    await fill(store, pets);
    const caller = store.as(await issue(store));
    const raw = openPets(join(folder, "raw.db"));
    raw.seed(pets);
    const { count, beDurable } = createCounter(raw.database);
    const idOf = (/** @type {number} */ index) => ((index * 7_919) % pets) + 1;
    const pet = { name: "Rex", categoryId: 7 };
    /** @type {Record<string, readonly [plain: (index: number) => unknown, ours: (index: number) => unknown]>} */
    const calls = {
      list: [() => raw.list(20), () => caller.listPets()],
      get: [(index) => raw.find(idOf(index)), (index) => caller.getPet(idOf(index))],
      create: [() => raw.create(pet), () => caller.createPet(pet)],
    };
    const rows = [];
    for (const operation of operations) {
      const [plain, ours] = calls[operation] ?? [idOf, idOf];
      const times = operation === "get" ? 9_600 : 3_200;
      const byHand = (/** @type {number} */ index) => {
        count();
        if (operation === "create") beDurable();
        plain(index);
      };
      const samples = await compareWork(
        [
          { name: "raw", times, work: repeat(plain), prepare: beDurable },
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
