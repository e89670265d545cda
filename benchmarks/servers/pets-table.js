// What the floor and the peers keep their pets in: the statements that one would write by hand.
import { Database } from "../better-sqlite3.js";

/** @typedef {{ name: string, categoryId: number, status?: string }} NewPet */

/** Opens the table in the file named by DATABASE, with the durability named by SYNCHRONOUS. */
export function openPets() {
  const database = new Database(process.env["DATABASE"] ?? ":memory:");
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
    /** @param {number} count */
    seed: database.transaction((/** @type {number} */ count) => {
      for (let index = 0; index < count; index += 1)
        insert.run(`pet ${index}`, index % 50, "available");
    }),
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
