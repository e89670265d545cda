import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createNodeHandler } from "@petstore/http-adapter";
import Koa, { type Context, type Middleware } from "koa";
import { AFTER_NODE } from "./after-node.js";
import type { Host } from "./host.js";

/** A Koa application, with the store behind these middlewares. */
export function createHost(name: string, ...before: readonly Middleware[]): Host {
  return {
    name: `Koa, ${name}`,
    basePath: "/v1",
    start: ({ store, behindProxy }) => {
      const app = new Koa({ proxy: behindProxy });
      app.silent = true;
      for (const middleware of before) app.use(middleware);
      if (store !== undefined) {
        // As in examples/koa.ts.
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
      app.use(host);
      const handle = app.callback();
      return { server: createServer((request, response) => void handle(request, response)) };
    },
    skips: AFTER_NODE,
  };
}

async function host(context: Context): Promise<void> {
  switch (`${context.method} ${context.path}`) {
    case "GET /hello":
    case "HEAD /hello":
      context.body = "hello";
      return;
    case "POST /echo":
      context.body = (JSON.parse(await text(context.req)) as { name: string }).name;
      return;
    case "GET /boom":
      throw new Error("the host's own");
  }
}
