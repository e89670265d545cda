import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createKoaMiddleware, type KoaMiddleware } from "@petstore/http-adapter";
import Koa, { type Context, type Middleware } from "koa";
import { AFTER_NODE } from "./after-node.js";
import type { Host } from "./host.js";

/** A Koa application, with the store wherever `compose` puts it. */
export function createHost(
  name: string,
  basePath: string,
  compose: (app: Koa, middleware: KoaMiddleware<Context>) => void,
): Host {
  return {
    name: `Koa, ${name}`,
    basePath,
    start: ({ store, behindProxy }) => {
      const app = new Koa({ proxy: behindProxy });
      app.silent = true;
      const origin = behindProxy ? ({ ip }: Context) => ip : undefined;
      if (store !== undefined) compose(app, createKoaMiddleware(store, { origin }));
      app.use(host);
      const handle = app.callback();
      return { server: createServer((request, response) => void handle(request, response)) };
    },
    skips: AFTER_NODE,
  };
}

export const plain = createHost("app.use", "/v1", (app, middleware) => app.use(middleware));

export const belowMount = createHost("below a mount at /api", "/api/v1", (app, middleware) => {
  app.use(mountAt("/api", middleware));
});

export const behindParser = createHost(
  "behind a body parser that keeps rawBody",
  "/v1",
  (app, middleware) => {
    app.use(async ({ req, request }, next) => {
      const isRead = req.headers["content-type"] === "application/json";
      if (isRead) Object.assign(request, { rawBody: await text(req) });
      await next();
    });
    app.use(middleware);
  },
);

async function host(context: Context): Promise<void> {
  switch (`${context.method} ${context.path}`) {
    case "GET /hello":
    case "HEAD /hello":
      context.body = "hello";
      return;
    case "POST /echo":
      context.body = (JSON.parse(await textOf(context)) as { name: string }).name;
      return;
    case "GET /boom":
      throw new Error("the host's own");
  }
}

async function textOf({ req, request }: Context): Promise<string> {
  return "rawBody" in request ? String(request.rawBody) : text(req);
}

/** What koa-mount does: cuts a prefix, and puts it back for what comes after. */
function mountAt(prefix: string, middleware: KoaMiddleware<Context>): Middleware {
  return async (context, next) => {
    const { path } = context;
    if (!path.startsWith(`${prefix}/`)) {
      await next();
      return;
    }
    context.path = path.slice(prefix.length);
    await middleware(context, async () => {
      context.path = path;
      await next();
    });
  };
}
