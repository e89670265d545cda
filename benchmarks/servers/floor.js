// The floor: bare node:http and prepared statements. No key, no limits, no validation. With COUNTS, it also counts each
// request in a row of its database before it does anything, and keeps the page that it has listed until a pet is added:
// less cannot be done for exact limits.
import { createServer } from "node:http";
import { createCounter, listening, openPets } from "./pets-table.js";

const pets = openPets();
if (process.env["SEED"]) pets.seed(Number(process.env["SEED"]));
const counter = process.env["COUNTS"] ? createCounter(pets.database) : undefined;
/** @type {Map<string, string>} */
const pages = new Map();

const server = createServer((request, response) => {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  if (request.method === "POST") {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    request.on("end", () => {
      counter?.count();
      counter?.beDurable();
      pages.clear();
      /** @type {import("./pets-table.js").NewPet} */
      const pet = JSON.parse(Buffer.concat(chunks).toString());
      respond(response, 201, JSON.stringify(pets.create(pet)));
    });
    return;
  }
  counter?.count();
  if (path === "/v1/pets") {
    const page = pages.get(query) ?? list(query);
    if (counter !== undefined) pages.set(query, page);
    respond(response, 200, page);
  } else {
    const pet = pets.find(Number(path.slice("/v1/pets/".length)));
    respond(response, pet ? 200 : 404, JSON.stringify(pet ?? { code: "not_found" }));
  }
});

/** @param {string} query */
function list(query) {
  const asked = new URLSearchParams(query);
  const page = pets.list(Number(asked.get("limit") ?? 20), Number(asked.get("after") ?? 0));
  return JSON.stringify(page);
}

/** @param {import("node:http").ServerResponse} response @param {number} status @param {string} body */
function respond(response, status, body) {
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

listening(server);
