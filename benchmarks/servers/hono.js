// Hono 4 on its node server with hono-rate-limiter, a key check and validation by hand.
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { rateLimiter } from "hono-rate-limiter";
import { isAuthorized, isPage, isPet } from "./checks.js";
import { listening, openPets } from "./pets-table.js";

const pets = openPets();
const app = new Hono();
app.use(async (context, next) => {
  if (isAuthorized(context.req.header("authorization"))) return next();
  return context.json({ code: "invalid" }, 401);
});
app.use(
  rateLimiter({
    ...{ windowMs: 60_000, limit: 1_000_000_000 },
    keyGenerator: (context) => context.req.header("authorization") ?? "",
  }),
);
app.get("/v1/pets", (context) => {
  const limit = Number(context.req.query("limit") ?? 20);
  const after = Number(context.req.query("after") ?? 0);
  if (isPage(limit)) return context.json(pets.list(limit, after));
  return context.json({ code: "invalid" }, 400);
});
app.get("/v1/pets/:id", (context) => {
  const pet = pets.find(Number(context.req.param("id")));
  return pet ? context.json(pet) : context.json({ code: "not_found" }, 404);
});
app.post("/v1/pets", async (context) => {
  /** @type {unknown} */
  const pet = await context.req.json();
  return isPet(pet) ? context.json(pets.create(pet), 201) : context.json({ code: "invalid" }, 400);
});
listening(/** @type {import("node:net").Server} */ (createAdaptorServer({ fetch: app.fetch })));
