// What the floor and the peers keep their pets in: the statements that one would write by hand.
import { Database } from "../better-sqlite3.js";

/** @typedef {{ name: string, categoryId: number, status?: string }} NewPet */

/** Opens the table in a file, with the durability named by SYNCHRONOUS. */
export function openPets(file = process.env["DATABASE"] ?? ":memory:") {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma(`synchronous = ${process.env["SYNCHRONOUS"] ?? "FULL"}`);
  database.exec(`
    create table if not exists pets (
      id integer primary key autoincrement,
      name text not null,
      categoryId integer not null,
      status text not null
    ) strict;
  `);
  const list = database.prepare(
    "select id, name, categoryId, status from pets where id > ? order by id limit ?",
  );
  const find = database.prepare("select id, name, categoryId, status from pets where id = ?");
  const insert = database.prepare("insert into pets (name, categoryId, status) values (?, ?, ?)");
  return {
    /** @type {InstanceType<typeof Database>} */
    database,
    /** @param {number} limit @param {number} [after] */
    list: (limit, after = 0) => list.all(after, limit),
    /** @param {number} id */
    find: (id) => find.get(id),
    /** @param {NewPet} pet */
    create: ({ name, categoryId, status = "available" }) => {
      const { lastInsertRowid } = insert.run(name, categoryId, status);
      return { id: Number(lastInsertRowid), name, categoryId, status };
    },
    /** @type {(count: number) => void} */
    seed: database.transaction((/** @type {number} */ count) => {
      for (let index = 0; index < count; index += 1)
        insert.run(`pet ${index}`, index % 50, "available");
    }),
  };
}

/**
 * Counts requests in a row of the database. Returns what counts one in a commit that survives the end of the process, and
 * what makes the next commit survive a power failure.
 * @param {ReturnType<typeof openPets>["database"]} database
 */
export function createCounter(database) {
  database.exec("create table usage (used integer not null) strict; insert into usage values (0)");
  const used = database.prepare("select used from usage").pluck();
  const use = database.prepare("update usage set used = ?");
  const countOne = database.transaction(() => use.run(Number(used.get()) + 1));
  let synchronous = "";
  const setSynchronous = (/** @type {"NORMAL" | "FULL"} */ level) => {
    if (level !== synchronous) database.pragma(`synchronous = ${level}`);
    synchronous = level;
  };
  return {
    count: () => {
      setSynchronous("NORMAL");
      countOne.immediate();
    },
    beDurable: () => setSynchronous("FULL"),
  };
}

/** Tells the parent that this server listens, and on which port. */
export function listening(/** @type {import("node:net").Server} */ server) {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) console.log(String(address.port));
  });
  process.on("SIGTERM", () => process.exit(0));
}
