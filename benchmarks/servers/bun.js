// The floor in Bun, with its own server and its own SQLite. No key, no limits, no validation. Run by Bun.
import { createRequire } from "node:module";

/** @typedef {import("./pets-table.js").NewPet} NewPet */
/** @typedef {(...values: unknown[]) => unknown} Call */
/** @typedef {{ run: Call, query: (text: string) => { all: Call, get: Call, run: (...values: unknown[]) => { lastInsertRowid: number } } }} BunDatabase */

const { Bun } = /** @type {{ Bun: { serve: (options: object) => { port: number } } }} */ (
  /** @type {unknown} */ (globalThis)
);
/** @type {{ Database: new (file: string) => BunDatabase }} */
const { Database } = createRequire(import.meta.url)("bun:sqlite");

const database = new Database(process.env["DATABASE"] ?? "");
database.run("pragma journal_mode = WAL");
database.run("pragma synchronous = FULL");
const list = database.query(
  "select id, name, categoryId, status from pets where id > ? order by id limit ?",
);
const find = database.query("select id, name, categoryId, status from pets where id = ?");
const insert = database.query("insert into pets (name, categoryId, status) values (?, ?, ?)");

const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (/** @type {Request} */ request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === "POST") {
      const {
        name,
        categoryId,
        status = "available",
      } = /** @type {NewPet} */ (await request.json());
      const { lastInsertRowid: id } = insert.run(name, categoryId, status);
      return Response.json({ id, name, categoryId, status }, { status: 201 });
    }
    if (pathname === "/v1/pets") {
      const asked = [searchParams.get("after") ?? 0, searchParams.get("limit") ?? 20];
      return Response.json(list.all(...asked.map(Number)));
    }
    const pet = find.get(Number(pathname.slice("/v1/pets/".length)));
    return Response.json(pet ?? { code: "not_found" }, { status: pet ? 200 : 404 });
  },
});
console.log(String(port));
process.on("SIGTERM", () => process.exit(0));
