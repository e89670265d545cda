// Optimisations of statements, compared side by side on better-sqlite3.
import { statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../../better-sqlite3.js";
import { issue, openStore } from "../../instrument/store.js";
import { repeat } from "../../instrument/turns.js";

/** @import { Optimisation } from "../optimisations.js" */

const ROWS = 32;
const TOGETHER = 8;
const COLUMNS = "id, name, category_id, status";
const isKnown = "status = 'available' or status = 'pending' or status = 'sold'";
const isIn = "status in ('available', 'pending', 'sold')";

/** @param {string} folder for the databases @param {number} pets @returns {Promise<readonly Optimisation[]>} */
export async function compareStatements(folder, pets) {
  const charges = await prepareCharges(join(folder, "charges.db"));
  const file = join(folder, "statements.db");
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  for (const [table, check] of [
    ["pets", isKnown],
    ["pets_by_or", isKnown],
    ["pets_by_in", isIn],
  ]) {
    database.exec(`create table ${table} (
      id integer primary key autoincrement, name text not null, category_id integer not null,
      status text not null check (${check})) strict`);
  }
  database.exec("create table usage (used integer not null) strict; insert into usage values (0)");
  const insert = (/** @type {string} */ table, rows = 1) => {
    const values = Array.from({ length: rows }, () => "(?, ?, ?)").join();
    return database.prepare(`insert into ${table} (name, category_id, status) values ${values}`);
  };
  const insertOne = insert("pets");
  const insertByOr = insert("pets_by_or");
  const insertByIn = insert("pets_by_in");
  const insertMany = insert("pets", TOGETHER);
  const pet = ["Rex", 7n, "available"];
  const many = Array.from({ length: TOGETHER }, () => pet).flat();
  database.transaction(() => repeat(() => insertOne.run(pet))(pets))();

  const page = `select ${COLUMNS} from pets where id > ? order by id limit 20`;
  const tuples = database.prepare(page).safeIntegers(true).raw(true);
  const objects = database.prepare(page).safeIntegers(true);
  const find = database.prepare(`select ${COLUMNS} from pets where id = ?`).raw(true);
  const begin = database.prepare("begin");
  const beginImmediate = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const use = database.prepare("update usage set used = used + 1");
  const idOf = (/** @type {number} */ index) => (index * 7_919) % pets;
  const inTransaction = (/** @type {() => unknown} */ work) => {
    begin.run();
    work();
    commit.run();
  };
  const write = () => {
    beginImmediate.run();
    use.run();
    commit.run();
  };
  const syncAfterLookAt = (/** @type {readonly string[]} */ paths) =>
    repeat(() => {
      for (const path of paths) statSync(path, { bigint: true });
      database.exec("pragma synchronous = FULL");
      write();
      database.exec("pragma synchronous = NORMAL");
    });

  return [
    {
      name: "before a commit of pets, the folder is looked at (plain: the database file, its log and its shared memory)",
      file: "storage-sqlite/src/database/database-files.ts",
      ...{ unit: "transaction at FULL", sample: 100 },
      optimised: syncAfterLookAt([folder]),
      plain: syncAfterLookAt(["", "-wal", "-shm"].map((end) => file + end)),
    },
    {
      name: "rows are read as tuples (plain: as objects)",
      ...{ file: "storage-sqlite/src/database/statement.ts", unit: "page of 20", sample: 1_000 },
      optimised: repeat((index) => tuples.all(idOf(index)).map(petOfTuple)),
      plain: repeat((index) => objects.all(idOf(index)).map(petOfObject)),
    },
    {
      name: `${TOGETHER} pets are inserted by one statement (plain: one pet by each; the commit not counted)`,
      ...{ file: "storage-sqlite/src/tables/pets.ts", unit: `${ROWS} pets`, sample: 100 },
      optimised: (times) =>
        inTransaction(() => repeat(() => insertMany.run(many))((times * ROWS) / TOGETHER)),
      plain: (times) => inTransaction(() => repeat(() => insertOne.run(pet))(times * ROWS)),
    },
    {
      name: "the statuses are compared one by one (plain: with IN; the commit not counted)",
      file: "storage-sqlite/src/migrations/0001-initial.ts",
      ...{ unit: `${ROWS} pets`, sample: 100 },
      optimised: (times) => inTransaction(() => repeat(() => insertByOr.run(pet))(times * ROWS)),
      plain: (times) => inTransaction(() => repeat(() => insertByIn.run(pet))(times * ROWS)),
    },
    {
      name: `reads that arrive together share a transaction (${ROWS} pets; plain: one transaction each)`,
      file: "storage-sqlite/src/storage/sqlite-storage.ts",
      ...{ unit: `${ROWS} pets`, sample: 100 },
      optimised: repeat((turn) =>
        inTransaction(() => repeat((index) => find.get(idOf(turn * ROWS + index)))(ROWS)),
      ),
      plain: repeat((turn) =>
        repeat((index) => inTransaction(() => find.get(idOf(turn * ROWS + index))))(ROWS),
      ),
    },
    {
      name: "a read that is alone begins no transaction (plain: begin and commit around it)",
      ...{ file: "storage-sqlite/src/storage/sqlite-storage.ts", unit: "pet", sample: 1_000 },
      optimised: repeat((index) => find.get(idOf(index))),
      plain: repeat((index) => inTransaction(() => find.get(idOf(index)))),
    },
    {
      name: "`synchronous` is set when it changes (plain: before each transaction)",
      file: "storage-sqlite/src/commit/transactions.ts",
      // Several times as many as SQLite writes back at once, which would otherwise fall to one of the two.
      ...{ unit: "transaction that writes usage", sample: 4_000 },
      optimised: repeat(write),
      plain: repeat(() => {
        database.exec("pragma synchronous = NORMAL");
        write();
      }),
    },
    {
      name: "what a charge reads is remembered while nobody else changes the database (plain: read; the commit not counted)",
      ...{ file: "storage-sqlite/src/commit/remember.ts", unit: "list", sample: 2_000 },
      optimised: charges.inTransaction(charges.look),
      plain: charges.inTransaction(charges.read),
    },
  ];
}

/** The statements of a charge, on the storage's own tables. @param {string} file */
async function prepareCharges(file) {
  const store = await openStore(file);
  await store.as(await issue(store)).admit();
  await store.close();
  const database = new Database(file);
  const digest = database.prepare("select digest from api_key_secrets").pluck().get();
  const holder = database
    .prepare(
      `select key.id, key.plan, key.per_minute, key.per_day, key.expires_at, key.revoked_at,
        secret.expires_at, usage.*
      from api_key_secrets as secret
      join api_keys as key on key.id = secret.key_id
      left join api_key_usage as usage on usage.key_id = key.id
      where secret.digest = ?`,
    )
    .raw(true);
  const revision = database.prepare("select revision from pets_revision").raw(true);
  const version = database.prepare("pragma data_version").raw(true);
  return {
    read: () => {
      holder.get(digest);
      revision.get();
    },
    look: () => version.get(),
    /** @param {() => unknown} work */
    inTransaction: (work) => (/** @type {number} */ times) => {
      database.exec("begin immediate");
      repeat(work)(times);
      database.exec("commit");
    },
  };
}

/** @param {unknown} row */
function petOfTuple(row) {
  const [id, name, categoryId, status] = /** @type {unknown[]} */ (row);
  return Object.freeze({ id, name, categoryId, status });
}

/** @param {unknown} row */
function petOfObject(row) {
  const shown = /** @type {Record<string, unknown>} */ (row);
  const { id, name, category_id: categoryId, status } = shown;
  return Object.freeze({ id, name, categoryId, status });
}
