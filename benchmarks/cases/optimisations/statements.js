// Optimisations of statements, compared side by side on better-sqlite3.
import { statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../../better-sqlite3.js";
import { issue, openStore } from "../../instrument/store.js";
import { repeat } from "../../instrument/turns.js";

/** @import { Optimisations } from "../optimisations.js" */

const ROWS = 32;
const TOGETHER = 8;
const COLUMNS = "id, name, category_id, status";
const isKnown = "status = 'available' or status = 'pending' or status = 'sold'";
const isIn = "status in ('available', 'pending', 'sold')";

/** @param {string} folder for the databases @param {number} pets @returns {Promise<Optimisations>} */
export async function compareStatements(folder, pets) {
  const charges = await prepareCharges(join(folder, "charges.db"));
  const file = join(folder, "statements.db");
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  for (const [table, check] of Object.entries({ pets: isKnown, by_or: isKnown, by_in: isIn })) {
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
  const insertByOr = insert("by_or");
  const insertByIn = insert("by_in");
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
  const inTransaction = (/** @type {() => unknown} */ work, start = begin) => {
    start.run();
    work();
    commit.run();
  };
  const write = () => inTransaction(() => use.run(), beginImmediate);
  const syncAfterLookAt = (/** @type {readonly string[]} */ paths) =>
    repeat(() => {
      for (const path of paths) statSync(path, { bigint: true });
      database.exec("pragma synchronous = FULL");
      write();
      database.exec("pragma synchronous = NORMAL");
    });

  return {
    "before a commit of pets, the folder is looked at (plain: the database file, its log and its shared memory)":
      [
        ["storage-sqlite/src/database/database-files.ts", "transaction at FULL", 100],
        syncAfterLookAt([folder]),
        syncAfterLookAt(["", "-wal", "-shm"].map((end) => file + end)),
      ],
    "rows are read as tuples (plain: as objects)": [
      ["storage-sqlite/src/database/connection.ts", "page of 20", 1_000],
      repeat((index) => tuples.all(idOf(index)).map(petOfTuple)),
      repeat((index) => objects.all(idOf(index)).map(petOfObject)),
    ],
    [`${TOGETHER} pets are inserted by one statement (plain: one pet by each; the commit not counted)`]:
      [
        ["storage-sqlite/src/tables/pets.ts", `${ROWS} pets`, 100],
        (times) =>
          inTransaction(() => repeat(() => insertMany.run(many))((times * ROWS) / TOGETHER)),
        (times) => inTransaction(() => repeat(() => insertOne.run(pet))(times * ROWS)),
      ],
    "the statuses are compared one by one (plain: with IN; the commit not counted)": [
      ["storage-sqlite/src/tables/migrations.ts", `${ROWS} pets`, 100],
      (times) => inTransaction(() => repeat(() => insertByOr.run(pet))(times * ROWS)),
      (times) => inTransaction(() => repeat(() => insertByIn.run(pet))(times * ROWS)),
    ],
    [`reads that arrive together share a transaction (${ROWS} pets; plain: one transaction each)`]:
      [
        ["storage-sqlite/src/storage/groups.ts", `${ROWS} pets`, 100],
        repeat((turn) =>
          inTransaction(() => repeat((index) => find.get(idOf(turn * ROWS + index)))(ROWS)),
        ),
        repeat((turn) =>
          repeat((index) => inTransaction(() => find.get(idOf(turn * ROWS + index))))(ROWS),
        ),
      ],
    "a read that is alone begins no transaction (plain: begin and commit around it)": [
      ["storage-sqlite/src/storage/groups.ts", "pet", 1_000],
      repeat((index) => find.get(idOf(index))),
      repeat((index) => inTransaction(() => find.get(idOf(index)))),
    ],
    "`synchronous` is set when it changes (plain: before each transaction)": [
      // Several times as many as SQLite writes back at once, which would otherwise fall to one of the two.
      ["storage-sqlite/src/commit/transactions.ts", "transaction that writes usage", 4_000],
      repeat(write),
      repeat(() => {
        database.exec("pragma synchronous = NORMAL");
        write();
      }),
    ],
    "what a charge reads is remembered while nobody else changes the database (plain: read; the commit not counted)":
      [
        ["storage-sqlite/src/commit/remember.ts", "list", 2_000],
        charges.inTransaction(charges.look),
        charges.inTransaction(charges.read),
      ],
  };
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
