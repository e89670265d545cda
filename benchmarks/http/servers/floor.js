// The floor: bare node:http and prepared statements. No key, no limits, no validation.
import { createServer } from "node:http";
import { listening, openPets } from "./pets-table.js";

const pets = openPets();
if (process.env["SEED"]) pets.seed(Number(process.env["SEED"]));

const server = createServer((request, response) => {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  if (request.method === "POST") {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    request.on("end", () => {
      /** @type {import("./pets-table.js").NewPet} */
      const pet = JSON.parse(Buffer.concat(chunks).toString());
      respond(response, 201, pets.create(pet));
    });
  } else if (path === "/v1/pets") {
    const asked = new URLSearchParams(query);
    respond(
      response,
      200,
      pets.list(Number(asked.get("limit") ?? 20), Number(asked.get("after") ?? 0)),
    );
  } else {
    const pet = pets.find(Number(path.slice("/v1/pets/".length)));
    respond(response, pet ? 200 : 404, pet ?? { code: "not_found" });
  }
});

/**
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {unknown} value
 */
function respond(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

listening(server);
