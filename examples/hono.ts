import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono, type Context } from "hono";
import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";

const store = createPetStore();
const handle = createFetchHandler(store, {
  basePath: "/api/v1",
  clientAddress: (_, context: Context) => getConnInfo(context).remote.address,
});
const app = new Hono();
app.all("/api/v1/*", (context) => handle(context.req.raw, context));
app.get("/", (context) => context.text("The host's own page."));
serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000), hostname: "127.0.0.1" });

const issued = await store.keys.issue({ plan: "free", label: "acme" });
issued.map(({ secret }) => console.log(`Authorization: Bearer ${secret}`));
