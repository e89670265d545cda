// Optimisations of the engine and its storages, compared through public means.
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import threads from "node:worker_threads";
import { createMemoryStorage, createPetStore } from "@petstore/core";
import { Database } from "../../better-sqlite3.js";
import { fill, issue, openStorage, openStore } from "../../instrument/store.js";
import { repeat, repeatBy } from "../../instrument/turns.js";

/** @import { Caller, PetStore } from "@petstore/core" */
/** @import { Optimisation } from "../optimisations.js" */

const CALLERS = 32;

/** @param {string} folder for the databases @param {number} pets @returns {Promise<readonly Optimisation[]>} */
export async function compareStorages(folder, pets) {
  const ban = { afterRefusals: 1, firstSeconds: 3_600 };
  const filename = join(folder, "ours.db");
  const store = createPetStore({ storage: await openStorage({ filename }), ban });
  const database = new Database(join(folder, "host.db"));
  const hosted = createPetStore({ storage: await openStorage({ database }) });
  const memory = createPetStore();
  await fill(store, pets);
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => callerOf(store)));
  const caller = await callerOf(store);
  const hostedCaller = await callerOf(hosted);
  const banned = store.as(await issue(store, { perMinute: 1, perDay: 1 }));
  for (let request = 0; request < 3; request += 1) await banned.admit();
  const secret = await issue(memory);
  const kept = memory.as(secret);
  const create = () => store.trusted.createPet({ name: "Rex", categoryId: 7n });
  let unasked = 0;
  return [
    {
      name: `calls that arrive together share a transaction (${CALLERS} callers)`,
      ...{ file: "storage-sql/src/commit/group-commit.ts", unit: "pet added", sample: 160 },
      optimised: repeatBy(CALLERS, create),
      plain: repeatBy(1, create),
    },
    {
      name: "usage is committed at NORMAL, without a sync (plain: a host's database, at FULL)",
      file: "storage-sqlite/src/storage/sqlite-storage.ts",
      ...{ unit: "request admitted", sample: 160 },
      optimised: repeatBy(1, () => caller.admit()),
      plain: repeatBy(1, () => hostedCaller.admit()),
    },
    {
      name: `a transaction reads and writes the usage of a key once (${CALLERS} requests of one key; plain: of ${CALLERS} keys)`,
      file: "storage-sql/src/storage/usage-storage.ts",
      ...{ unit: "request admitted", sample: 1_600 },
      optimised: repeatBy(CALLERS, () => caller.admit()),
      plain: repeatBy(CALLERS, (index) => callers[index % CALLERS]?.admit()),
    },
    {
      name: "a refusal that changes no usage is not written (a banned key; plain: an admitted one)",
      ...{ file: "core/src/limits/charge.ts", unit: "request", sample: 800 },
      optimised: repeatBy(1, () => banned.admit()),
      plain: repeatBy(1, () => caller.admit()),
    },
    {
      name: "a read is part of its charge (plain: admitted first, and read then)",
      ...{ file: "storage-sqlite/src/storage/sqlite-storage.ts", unit: "pet read", sample: 800 },
      optimised: repeatBy(1, () => caller.getPet(1n)),
      plain: repeatBy(1, () => caller.admit().andThen((admission) => admission.getPet(1n))),
    },
    {
      name: "a page is kept until a pet changes (plain: a page that is new each time)",
      ...{ file: "storage-sql/src/storage/page-cache.ts", unit: "page of 20", sample: 1_600 },
      optimised: repeatBy(CALLERS, () => store.trusted.listPets()),
      plain: repeatBy(CALLERS, () => store.trusted.listPets({ after: (unasked -= 1) })),
    },
    {
      name: "a connection keeps its caller, who digests the key once (plain: a new caller for each request; in memory)",
      file: "http-adapter/src/handle.ts, core/src/operations/callers.ts",
      ...{ unit: "request admitted", sample: 10_000 },
      optimised: repeatBy(1, () => kept.admit()),
      plain: repeatBy(1, () => memory.as(secret).admit()),
    },
    withQuota(),
    transactionSignal(),
    await beside(),
    await unheard(),
    await byStatus(pets),
    await stalls(store, await openStore(join(folder, "unthreaded.db"))),
  ];
}

/** @returns {Optimisation} */
function withQuota() {
  const quota = { limit: 60, remaining: 59, resetAt: 60_000 };
  let id = 0n;
  const result = () => ({ pet: { id: (id += 1n), name: "Rex" } });
  return {
    name: "a result gets its quota by `Object.assign` (plain: by a spread, which is slow in Node 20)",
    file: "core/src/limits/window.ts, storage-sqlite/src/tables/api-key-usage.ts",
    ...{ unit: "result", sample: 10_000 },
    optimised: repeat(() => Object.assign({ quota }, result())),
    plain: repeat(() => ({ ...result(), quota })),
  };
}

/** @returns {Optimisation} */
function transactionSignal() {
  const kind = { storage: "sqlite", group: "charges" };
  const { storage, group } = kind;
  // A duration is sometimes a whole number, which V8 keeps in another way.
  const wait = (/** @type {number} */ index) => (index % 100) / 37;
  return {
    name: "the signal of a transaction names its fields (plain: a spread, before fractions)",
    file: "storage-sql/src/commit/transaction-signal.ts",
    unit: "signal",
    sample: 10_000,
    optimised: repeat((index) => ({ storage, group, wait: wait(index) })),
    plain: repeat((index) => ({ ...kind, wait: wait(index) })),
  };
}

/** @returns {Promise<Optimisation>} */
async function beside() {
  const [quiet, attacked] = [createPetStore(), createPetStore()];
  const beforeAttack = quiet.as(await issue(quiet), "192.0.2.1");
  const afterAttack = attacked.as(await issue(attacked), "192.0.2.1");
  for (let request = 0; request < 100; request += 1) await attacked.as("", "192.0.2.2").admit();
  return {
    name: "the anonymous bucket of a caller with a key is not looked up while none is empty (plain: one of another origin is; in memory)",
    ...{ file: "core/src/limits/anonymous.ts", unit: "request admitted", sample: 10_000 },
    optimised: repeatBy(1, () => beforeAttack.admit()),
    plain: repeatBy(1, () => afterAttack.admit()),
  };
}

/** @returns {Promise<Optimisation>} */
async function unheard() {
  const [unheard, heard] = [createPetStore(), createPetStore()];
  const ignore = () => undefined;
  unheard.events.on("storage_warning", ignore);
  heard.events.onAny(ignore);
  const [caller, heardCaller] = [await callerOf(unheard), await callerOf(heard)];
  // As requests over one connection, each in a turn of the event loop of its own, because events wait for its end.
  const getInTurn = async (/** @type {Caller} */ by) => {
    await by.getPet(1n);
    await setImmediate();
  };
  return {
    name: "an event that nobody listens for is not queued (a listener for another event; plain: for every event; in memory)",
    ...{ file: "core/src/events.ts", unit: "get", sample: 10_000 },
    optimised: repeatBy(1, () => getInTurn(caller)),
    plain: repeatBy(1, () => getInTurn(heardCaller)),
  };
}

/** @param {number} count @returns {Promise<Optimisation>} */
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
    name: `the memory storage has an array for each status (${count.toLocaleString("en")} pets; plain: one array is filtered)`,
    ...{ file: "core/src/storage/memory-storage.ts", unit: "page of 20", sample: 500 },
    optimised: repeatBy(1, () => pets.list(query)),
    plain: repeat(() => all.filter(({ status }) => status === "sold").slice(0, 20)),
  };
}

/**
 * The slowest admission of a round, which is one in which SQLite writes its log back.
 * @param {PetStore} threaded
 * @param {PetStore} unthreaded
 * @returns {Promise<Optimisation>}
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
    name: `the log is written back in a thread (plain: where no thread can be started; elapsed time of the slowest of ${admissions.toLocaleString("en")})`,
    ...{ file: "storage-sqlite/src/database/checkpoints.ts", unit: "request admitted" },
    ...{ sample: 1, now: () => slowest },
    optimised: slowestOf(await callerOf(threaded)),
    plain,
  };
}

/** @param {PetStore} store */
async function callerOf(store) {
  return store.as(await issue(store));
}
