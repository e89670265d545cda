import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { createFetchHandler } from "@petstore/http-adapter";
import { Hono, type Context } from "hono";
import { AFTER_NODE } from "./after-node.js";
import type { Host } from "./host.js";

const NORMALISED = "a Request's URL has been normalised";

/** A Hono application with the store below a base path. */
export const createHost = (basePath: string): Host => ({
  name: "Hono on @hono/node-server",
  basePath,
  resolvesDots: true,
  start: ({ store, behindProxy }) => {
    const app = new Hono();
    if (store !== undefined) {
      const handle = createFetchHandler(store, {
        basePath,
        origin: behindProxy ? lastHop : socketAddress,
      });
      app.all(`${basePath}/*`, (context) => handle(context.req.raw, context));
    }
    app.get("/hello", (context) => context.text("hello"));
    app.post("/echo", async (context) => {
      return context.text((await context.req.json<{ name: string }>()).name);
    });
    app.get("/boom", () => {
      throw new Error("the host's own");
    });
    app.onError((_, context) => context.text("The host's own error page", 500));
    const server = createAdaptorServer({ fetch: app.fetch });
    if (!("closeAllConnections" in server)) throw new Error("no server for HTTP/1.1");
    return { server };
  },
  skips: {
    ...AFTER_NODE,
    "404: dot segments are not resolved": NORMALISED,
    "431: more header lines than Node keeps, whoever refuses them":
      "a Request has only the lines that older versions of Node keep",
  },
});

function socketAddress(_: Request, context: Context): string | undefined {
  return getConnInfo(context).remote.address;
}

function lastHop(request: Request): string | undefined {
  return request.headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim();
}
