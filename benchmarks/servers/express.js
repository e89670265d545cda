// Express 5 with express-rate-limit, a key check and validation by hand.
import { createServer } from "node:http";
import express from "express";
import { rateLimit } from "express-rate-limit";
import { isAuthorized, isPage, isPet } from "./checks.js";
import { listening, openPets } from "./pets-table.js";

const pets = openPets();
const app = express();
app.disable("x-powered-by");
app.use((request, response, next) => {
  if (isAuthorized(request.headers.authorization)) next();
  else response.status(401).json({ code: "invalid" });
});
app.use(
  rateLimit({
    ...{ windowMs: 60_000, limit: 1_000_000_000, standardHeaders: true, legacyHeaders: false },
    keyGenerator: (request) => request.headers.authorization ?? "",
  }),
);
app.get("/v1/pets", (request, response) => {
  const limit = Number(request.query["limit"] ?? 20);
  const after = Number(request.query["after"] ?? 0);
  if (isPage(limit)) response.json(pets.list(limit, after));
  else response.status(400).json({ code: "invalid" });
});
app.get("/v1/pets/:id", (request, response) => {
  const pet = pets.find(Number(request.params.id));
  response.status(pet ? 200 : 404).json(pet ?? { code: "not_found" });
});
app.post("/v1/pets", express.json(), (request, response) => {
  if (isPet(request.body)) response.status(201).json(pets.create(request.body));
  else response.status(400).json({ code: "invalid" });
});
listening(createServer(app));
