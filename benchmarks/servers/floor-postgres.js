// The floor on PostgreSQL: bare node:http, a pg pool and named statements. No key, no limits, no validation.
import { createServer } from "node:http";
import pg from "pg";
import { listening } from "./pets-table.js";

const pool = new pg.Pool({ connectionString: process.env["DATABASE"], max: 10 });
const columns = "id, name, category_id, status";
/** @type {Record<string, string>} */
const statements = {
  list: `select ${columns} from floor_pets where id > $1 order by id limit $2`,
  get: `select ${columns} from floor_pets where id = $1`,
  create: `insert into floor_pets (name, category_id, status) values ($1, $2, $3) returning ${columns}`,
};

const server = createServer((request, response) => {
  /** @param {number} status @param {string} name of the statement @param {unknown[]} values */
  const respond = async (status, name, values) => {
    const { rows } = await pool.query({ name, text: statements[name] ?? "", values });
    const pets = rows.map(({ id, name, category_id, status }) => ({
      id: Number(id),
      name,
      categoryId: Number(category_id),
      status,
    }));
    const body = JSON.stringify(name === "list" ? pets : pets[0]);
    const length = Buffer.byteLength(body);
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": length });
    response.end(body);
  };
  const [path = "", query = ""] = (request.url ?? "").split("?");
  if (request.method === "POST") {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { name, categoryId, status } = JSON.parse(Buffer.concat(chunks).toString());
      void respond(201, "create", [name, categoryId, status]);
    });
  } else if (path === "/v1/pets") {
    const asked = new URLSearchParams(query);
    void respond(200, "list", [asked.get("after") ?? 0, asked.get("limit") ?? 20]);
  } else {
    void respond(200, "get", [path.slice("/v1/pets/".length)]);
  }
});
listening(server);
