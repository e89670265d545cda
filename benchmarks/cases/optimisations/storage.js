// Optimisations of the engine and its storages, compared through public means.
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import threads from "node:worker_threads";
import { createMemoryStorage, createPetStore } from "@petstore/core";
import { Database } from "../../better-sqlite3.js";
import { buildWithout, fill, issue, openStorage, openStore } from "../../instrument/store.js";
import { repeat, repeatBy } from "../../instrument/turns.js";

/** @import { Caller, PetStore } from "@petstore/core" */
/** @import { Optimisations } from "../optimisations.js" */

const CALLERS = 32;

/** @param {string} folder for the databases @param {number} pets @returns {Promise<Optimisations>} */
export async function compareStorages(folder, pets) {
  const ban = { afterRefusals: 1, firstSeconds: 3_600 };
  const filename = join(folder, "ours.db");
  const store = createPetStore({ storage: await openStorage({ filename }), ban });
  const database = new Database(join(folder, "host.db"));
  const hosted = createPetStore({ storage: await openStorage({ database }) });
  const memory = createPetStore();
  const readsEachTime = await buildWithout("storage-sqlite", "keys.size > MOST_REMEMBERED", "true");
  await fill(store, pets);
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => callerOf(store)));
  const caller = await callerOf(store);
  const hostedCaller = await callerOf(hosted);
  const forgetful = createPetStore({
    storage: await openStorage(
      { filename: join(folder, "forgetful.db") },
      readsEachTime.openSqliteStorage,
    ),
  });
  await fill(forgetful, pets);
  const forgetfulCaller = await callerOf(forgetful);
  const readsApart = await buildWithout("storage-sqlite", "connection.isWriting()", "false");
  const apart = createPetStore({
    storage: await openStorage(
      { filename: join(folder, "apart.db") },
      readsApart.openSqliteStorage,
    ),
  });
  await fill(apart, pets);
  const apartCaller = await callerOf(apart);
  const banned = store.as(await issue(store, { perMinute: 1, perDay: 1 }));
  for (let request = 0; request < 3; request += 1) await banned.admit();
  const secret = await issue(memory);
  const kept = memory.as(secret);
  const create = () => store.trusted.createPet({ name: "Rex", categoryId: 7n });
  let unasked = 0;
  return {
    [`calls that arrive together share a transaction (${CALLERS} callers)`]: [
      ["storage-sql/src/commit/group-commit.ts", "pet added", 160],
      repeatBy(CALLERS, create),
      repeatBy(1, create),
    ],
    "usage is committed at NORMAL, without a sync (plain: a host's database, at FULL)": [
      ["storage-sqlite/src/storage/groups.ts", "request admitted", 160],
      repeatBy(1, () => caller.admit()),
      repeatBy(1, () => hostedCaller.admit()),
    ],
    [`a transaction reads and writes the usage of a key once (${CALLERS} requests of one key; plain: of ${CALLERS} keys)`]:
      [
        ["storage-sql/src/api-key-usage.ts", "request admitted", 1_600],
        repeatBy(CALLERS, () => caller.admit()),
        repeatBy(CALLERS, (index) => callers[index % CALLERS]?.admit()),
      ],
    "a refusal that changes no usage is not written (a banned key; plain: an admitted one)": [
      ["core/src/limits/charge.ts", "request", 800],
      repeatBy(1, () => banned.admit()),
      repeatBy(1, () => caller.admit()),
    ],
    "a page is kept until a pet changes (plain: a page that is new each time)": [
      ["storage-sql/src/pets.ts", "page of 20", 1_600],
      repeatBy(CALLERS, () => store.trusted.listPets()),
      repeatBy(CALLERS, () => store.trusted.listPets({ after: (unasked -= 1) })),
    ],
    "a connection keeps its caller, who digests the key once (plain: a new caller for each request; in memory)":
      [
        [
          "http-adapter/src/request/headers.ts, core/src/operations/callers.ts",
          "request admitted",
          10_000,
        ],
        repeatBy(1, () => kept.admit()),
        repeatBy(1, () => memory.as(secret).admit()),
      ],
    [`what a charge reads is remembered while nobody else changes the database (${CALLERS} callers; plain: read each time, by another build)`]:
      [
        ["storage-sqlite/src/storage/api-key-usage.ts", "list", 1_600],
        repeatBy(CALLERS, () => caller.listPets()),
        repeatBy(CALLERS, () => forgetfulCaller.listPets()),
      ],
    "a get reads in the transaction of its charge (one caller; plain: in its own, by another build)":
      [
        ["storage-sqlite/src/storage/groups.ts", "get", 1_600],
        repeatBy(1, () => caller.getPet(1n)),
        repeatBy(1, () => apartCaller.getPet(1n)),
      ],
    ...(await withQuota()),
    ...(await unheard(folder)),
    ...(await beside()),
    ...(await byStatus(pets)),
    ...(await stalls(store, await openStore(join(folder, "unthreaded.db")))),
  };
}

/** @returns {Promise<Optimisations>} */
async function withQuota() {
  const other = await buildWithout(
    "core",
    "Object.assign(result.value, charged)",
    "{ ...result.value, ...charged }",
  );
  const [caller, otherCaller] = [
    await callerOf(createPetStore()),
    await callerOf(other.createPetStore()),
  ];
  return {
    "a result gets its quota by `Object.assign` (plain: by a spread, which is slow in Node 20, by another build; in memory)":
      [
        ["core/src/operations/callers.ts", "list", 10_000],
        repeatBy(1, () => caller.listPets()),
        repeatBy(1, () => otherCaller.listPets()),
      ],
  };
}

/** @param {string} folder @returns {Promise<Optimisations>} */
async function unheard(folder) {
  const other = await buildWithout("core", "|| listeners.size === 0");
  const storageOf = (/** @type {string} */ name) =>
    openStorage({ filename: join(folder, `${name}.db`) });
  const caller = await callerOf(createPetStore({ storage: await storageOf("unheard") }));
  const made = await callerOf(other.createPetStore({ storage: await storageOf("made") }));
  return {
    "an event that has no listener is not made (one caller; plain: it is, by another build)": [
      ["core/src/events/events.ts", "get", 1_600],
      repeatBy(1, () => caller.getPet(1n)),
      repeatBy(1, () => made.getPet(1n)),
    ],
  };
}

/** @returns {Promise<Optimisations>} */
async function beside() {
  const [quiet, attacked] = [createPetStore(), createPetStore()];
  const beforeAttack = quiet.as(await issue(quiet), "192.0.2.1");
  const afterAttack = attacked.as(await issue(attacked), "192.0.2.1");
  for (let request = 0; request < 100; request += 1) await attacked.as("", "192.0.2.2").admit();
  return {
    "the anonymous bucket of a caller with a key is not looked up while none is empty (plain: one of another client is; in memory)":
      [
        ["core/src/limits/anonymous.ts", "request admitted", 10_000],
        repeatBy(1, () => beforeAttack.admit()),
        repeatBy(1, () => afterAttack.admit()),
      ],
  };
}

/** @param {number} count @returns {Promise<Optimisations>} */
async function byStatus(count) {
  const { pets } = createMemoryStorage();
  /** @type {import("@petstore/core").Pet[]} */
  const all = [];
  for (let index = 0; index < count; index += 1) {
    const status = index % 20 === 19 ? "sold" : "available";
    const created = await pets.create({ name: `pet ${index}`, categoryId: 7n, status });
    if (created.isOk()) all.push(created.value);
  }
  const query = /** @type {const} */ ({ limit: 20, status: "sold", after: undefined });
  return {
    [`the memory storage has an array for each status (${count.toLocaleString("en")} pets; plain: one array is filtered)`]:
      [
        ["core/src/storage/memory-storage.ts", "page of 20", 500],
        repeatBy(1, () => pets.list(query)),
        repeat(() => all.filter(({ status }) => status === "sold").slice(0, 20)),
      ],
  };
}

/**
 * The slowest admission of a round, which is one in which SQLite writes its log back.
 * @param {PetStore} threaded
 * @param {PetStore} unthreaded
 * @returns {Promise<Optimisations>}
 */
async function stalls(threaded, unthreaded) {
  const admissions = 5_000;
  let slowest = 0;
  const slowestOf = (/** @type {Caller} */ caller) => async () => {
    let longest = 0;
    for (let count = 0; count < admissions; count += 1) {
      const start = performance.now();
      await caller.admit();
      longest = Math.max(longest, performance.now() - start);
    }
    slowest += longest * 1_000;
  };
  const plain = slowestOf(await callerOf(unthreaded));
  const { Worker } = threads;
  // The storage starts its thread after some commits, and does without one where it cannot be started.
  threads.Worker = /** @type {never} */ (
    function () {
      throw new Error("no threads");
    }
  );
  syncBuiltinESMExports();
  await plain();
  threads.Worker = Worker;
  syncBuiltinESMExports();
  return {
    [`the log is written back in a thread (plain: where no thread can be started; elapsed time of the slowest of ${admissions.toLocaleString("en")})`]:
      [
        ["storage-sqlite/src/commit/checkpoints.ts", "request admitted", 1, () => slowest],
        slowestOf(await callerOf(threaded)),
        plain,
      ],
  };
}

/** @param {PetStore} store */
async function callerOf(store) {
  return store.as(await issue(store));
}
