// Optimisations of statements, compared side by side on better-sqlite3.
import { statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../../better-sqlite3.js";
import { repeat } from "../../instrument/turns.js";

/** @import { Optimisations } from "../optimisations.js" */

const ROWS = 32;
const TOGETHER = 8;
const COLUMNS = "id, name, category_id, status";
const isKnown = "status = 'available' or status = 'pending' or status = 'sold'";
const isIn = "status in ('available', 'pending', 'sold')";

/** @param {string} folder for the databases @param {number} pets @returns {Optimisations} */
export function compareStatements(folder, pets) {
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
        ["storage-sqlite/src/storage/pet-storage.ts", `${ROWS} pets`, 100],
        (times) =>
          inTransaction(() => repeat(() => insertMany.run(many))((times * ROWS) / TOGETHER)),
        (times) => inTransaction(() => repeat(() => insertOne.run(pet))(times * ROWS)),
      ],
    "the statuses are compared one by one (plain: with IN; the commit not counted)": [
      ["storage-sqlite/src/migrations/initial.ts", `${ROWS} pets`, 100],
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
