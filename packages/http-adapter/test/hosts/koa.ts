import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createNodeHandler } from "@petstore/http-adapter";
import Koa, { type Context } from "koa";
import type { Host } from "./host.js";

/** A Koa application with the store as in examples/koa.ts. */
export const koa: Host = {
  name: "Koa",
  basePath: "/v1",
  start: (store, behindProxy) => {
    const app = new Koa({ proxy: behindProxy });
    app.silent = true;
    if (store !== undefined) {
      const handle = createNodeHandler(store, {
        origin: ({ headers, socket }) =>
          behindProxy ? headers["x-forwarded-for"]?.toString() : socket.remoteAddress,
      });
      app.use(async (context, next) => {
        const isElsewhere = await new Promise<boolean>((resolve) => {
          context.res.once("close", () => resolve(false));
          handle(context.req, context.res, () => resolve(true));
        });
        context.respond = isElsewhere;
        if (isElsewhere) await next();
      });
    }
    app.use(pages);
    const respond = app.callback();
    return createServer((request, response) => void respond(request, response));
  },
};

async function pages(context: Context): Promise<void> {
  const { method, path } = context;
  if (path === "/hello" && method !== "DELETE") context.body = "hello";
  if (path === "/echo" && method === "POST") context.body = await text(context.req);
  if (path === "/boom") throw new Error("the host's own");
}
