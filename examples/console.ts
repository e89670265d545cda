// The operator's console beside the store, behind the host's own login.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { basicAuth } from "hono/basic-auth";
import { createConsole } from "@petstore/console";
import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";

const password = process.env["OPERATOR_PASSWORD"];
if (password === undefined) throw new Error("OPERATOR_PASSWORD is not set.");
const port = Number(process.env["PORT"] ?? 3000);
const store = createPetStore();
const operatorsConsole = createConsole(store, {
  actor: "anna",
  baseUrl: `http://127.0.0.1:${port}/v1`,
  onEvent: ({ type, actor, at }) => console.log(new Date(at).toISOString(), actor, type),
});
const handle = createFetchHandler(store);
const app = new Hono();
app.all("/v1/*", ({ req }) => handle(req.raw));
app.use("/console/*", basicAuth({ username: "anna", password }));
app.all("/console/*", ({ req }) => operatorsConsole(req.raw));
serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });
