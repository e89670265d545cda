// Fastify 5 with @fastify/rate-limit, a key check and its own validation.
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { isAuthorized } from "./key-check.js";
import { openPets } from "./pets-table.js";

const pets = openPets();
const app = Fastify();
await app.register(rateLimit, {
  max: 1_000_000_000,
  timeWindow: 60_000,
  keyGenerator: (request) => request.headers.authorization ?? "",
});
app.addHook("onRequest", async (request, reply) => {
  if (!isAuthorized(request.headers.authorization)) await reply.code(401).send({ code: "invalid" });
});

const status = { type: "string", enum: ["available", "pending", "sold"] };
app.get(
  "/v1/pets",
  {
    schema: {
      querystring: {
        type: "object",
        properties: {
          limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          after: { type: "integer", default: 0 },
        },
      },
    },
  },
  (request, reply) => {
    const { limit, after } = /** @type {{ limit: number, after: number }} */ (request.query);
    return reply.send(pets.list(limit, after));
  },
);
app.get("/v1/pets/:id", (request, reply) => {
  const { id } = /** @type {{ id: string }} */ (request.params);
  const pet = pets.find(Number(id));
  return pet ? reply.send(pet) : reply.code(404).send({ code: "not_found" });
});
app.post(
  "/v1/pets",
  {
    schema: {
      body: {
        type: "object",
        required: ["name", "categoryId"],
        properties: { name: { type: "string" }, categoryId: { type: "integer" }, status },
      },
    },
  },
  (request, reply) => {
    const pet = /** @type {import("./pets-table.js").NewPet} */ (request.body);
    return reply.code(201).send(pets.create(pet));
  },
);

await app.listen({ port: 0, host: "127.0.0.1" });
const address = app.server.address();
if (typeof address === "object" && address !== null) console.log(String(address.port));
process.on("SIGTERM", () => process.exit(0));
