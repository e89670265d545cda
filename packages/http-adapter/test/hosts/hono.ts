import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { createFetchHandler } from "@petstore/http-adapter";
import { Hono, type Context } from "hono";
import type { Host } from "./host.js";

/** A Hono application with the fetch handler below a base path. */
export const createHost = (basePath: string): Host => ({
  name: "createFetchHandler in Hono on @hono/node-server",
  basePath,
  resolvesDots: true,
  start: (store, behindProxy) => {
    const app = new Hono();
    if (store !== undefined) {
      const origin = (request: Request, context: Context) =>
        behindProxy
          ? (request.headers.get("X-Forwarded-For") ?? undefined)
          : getConnInfo(context).remote.address;
      const handle = createFetchHandler(store, { basePath, origin });
      app.all(`${basePath}/*`, (context) => handle(context.req.raw, context));
    }
    app.get("/hello", (context) => context.text("hello"));
    app.post("/echo", async (context) => context.json(await context.req.json<object>()));
    app.get("/boom", () => {
      throw new Error("the host's own");
    });
    app.onError((_, context) => context.text("The host's own error page", 500));
    const server = createAdaptorServer({ fetch: app.fetch });
    if (!("closeAllConnections" in server)) throw new Error("no server for HTTP/1.1");
    return server;
  },
});
