// The floor, which also counts each request in a row of its database before it does anything, and keeps the page that
// it has listed until a pet is added. No key, no limits, no validation: less cannot be done for exact limits.
import { createServer } from "node:http";
import { listening, openPets } from "./pets-table.js";

const pets = openPets();
const { database } = pets;
database.exec(`
  create table usage (key text primary key, used integer not null) strict, without rowid;
  insert into usage values ('key', 0);
`);
const used = database.prepare("select used from usage where key = ?").pluck();
const use = database.prepare("update usage set used = ? where key = ?");
const countOne = database.transaction(() => use.run(Number(used.get("key")) + 1, "key"));
let synchronous = "FULL";
/** @type {Map<string, string>} */
const pages = new Map();

const server = createServer((request, response) => {
  if (request.method === "POST") {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    request.on("end", () => {
      count();
      pages.clear();
      /** @type {import("./pets-table.js").NewPet} */
      const pet = JSON.parse(Buffer.concat(chunks).toString());
      setSynchronous("FULL");
      respond(response, 201, JSON.stringify(pets.create(pet)));
    });
    return;
  }
  count();
  const [path = "", query = ""] = (request.url ?? "").split("?");
  if (path === "/v1/pets") respond(response, 200, pageOf(query));
  else respond(response, 200, JSON.stringify(pets.find(Number(path.slice("/v1/pets/".length)))));
});

/** Counts a request in a commit that survives the end of the process. */
function count() {
  setSynchronous("NORMAL");
  countOne.immediate();
}

/**
 * Sets the level when it changes.
 * @param {"FULL" | "NORMAL"} level
 */
function setSynchronous(level) {
  if (level !== synchronous) database.pragma(`synchronous = ${level}`);
  synchronous = level;
}

/** @param {string} query */
function pageOf(query) {
  const known = pages.get(query);
  if (known !== undefined) return known;
  const limit = Number(new URLSearchParams(query).get("limit") ?? 20);
  const page = JSON.stringify(pets.list(limit));
  pages.set(query, page);
  return page;
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {string} body
 */
function respond(response, status, body) {
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

listening(server);
