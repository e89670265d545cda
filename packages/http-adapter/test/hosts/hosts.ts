import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import {
  createFetchHandler,
  createNodeHandler,
  petStorePlugin,
  type NodeHandler,
} from "@petstore/http-adapter";
import express, { Router, type ErrorRequestHandler, type Express, type Request } from "express";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { Hono, type Context } from "hono";
import Koa from "koa";
import type { Host } from "./host.js";
import * as node from "./node.js";

const fail = (): never => {
  throw new Error("the host's own");
};

/** Express, with the store wherever `compose` puts it. */
function onExpress(
  where: string,
  compose: (app: Express, handler: NodeHandler<Request> | Router) => void,
  { basePath = "/v1", rounds = false } = {},
): Host {
  const start: Host["start"] = (store, behindProxy) => {
    const app = express();
    if (behindProxy) app.set("trust proxy", 1);
    const clientAddress = behindProxy ? ({ ip }: Request) => ip : undefined;
    compose(app, store === undefined ? Router() : createNodeHandler(store, { clientAddress }));
    app.get("/hello", (_, response) => void response.send("hello"));
    app.post("/echo", express.json(), ({ body }, response) => void response.send(body));
    app.get("/boom", fail);
    // Express knows an error handler by its four parameters.
    const onError: ErrorRequestHandler = (error: { status?: number }, _, response, next) => {
      if (response.headersSent) next(error);
      else response.status(error.status ?? 500).send("The host's own error page");
    };
    app.use(onError);
    return createServer(app);
  };
  return { name: `Express, ${where}`, basePath, rounds, start };
}

const expressFirst = onExpress("app.use before express.json()", (app, handler) =>
  app.use(handler).use(express.json()),
);

/** Keeps a body as it was sent. */
const verify = (request: object, _: unknown, rawBody: Buffer): void =>
  void Object.assign(request, { rawBody });

/** Fastify with the store as a plugin, and with what `decorate` adds before it. */
export function onFastify(
  prefix: string,
  basePath: string,
  decorate: (app: FastifyInstance) => void = () => undefined,
): Host {
  return {
    name: `Fastify, prefix "${prefix}"`,
    basePath: prefix + basePath,
    start: async (store, behindProxy) => {
      const app = fastify({ trustProxy: behindProxy });
      decorate(app);
      const clientAddress = behindProxy ? ({ ip }: FastifyRequest) => ip : undefined;
      if (store !== undefined)
        await app.register(petStorePlugin, { prefix, store, basePath, clientAddress });
      app.get("/hello", () => "hello");
      app.post("/echo", ({ body }) => body);
      app.get("/boom", fail);
      await app.listen({ port: 0, host: "127.0.0.1" });
      return app.server;
    },
  };
}

const onHono = (basePath: string): Host => ({
  name: "createFetchHandler in Hono on @hono/node-server",
  basePath,
  resolvesDots: true,
  start: (store, behindProxy) => {
    const app = new Hono();
    if (store !== undefined) {
      const clientAddress = ({ headers }: globalThis.Request, context: Context) =>
        behindProxy
          ? (headers.get("X-Forwarded-For") ?? undefined)
          : getConnInfo(context).remote.address;
      const handle = createFetchHandler(store, { basePath, clientAddress });
      app.all(`${basePath}/*`, (context) => handle(context.req.raw, context));
    }
    app.get("/hello", (context) => context.text("hello"));
    app.post("/echo", async (context) => context.json(await context.req.json<object>()));
    app.get("/boom", fail);
    app.onError((_, context) => context.text("The host's own error page", 500));
    const server = createAdaptorServer({ fetch: app.fetch });
    if (!("closeAllConnections" in server)) throw new Error("no server for HTTP/1.1");
    return server;
  },
});

/** As in examples/koa.ts. */
const koa: Host = {
  name: "Koa",
  basePath: "/v1",
  start: (store, behindProxy) => {
    const app = new Koa({ proxy: behindProxy });
    app.silent = true;
    if (store !== undefined) {
      const handle = createNodeHandler(store, { clientAddress: node.clientAddressOf(behindProxy) });
      app.use(async (context, next) => {
        const isElsewhere = await new Promise<boolean>((resolve) => {
          context.res.once("close", () => resolve(false));
          handle(context.req, context.res, () => resolve(true));
        });
        context.respond = isElsewhere;
        if (isElsewhere) await next();
      });
    }
    app.use(async (context) => {
      const { method, path } = context;
      if (path === "/hello") context.body = "hello";
      if (path === "/echo" && method === "POST") context.body = await text(context.req);
      if (path === "/boom") fail();
    });
    const respond = app.callback();
    return createServer((request, response) => void respond(request, response));
  },
};

/** Every host. */
export const hosts: readonly Host[] = [
  ...node.hosts,
  onExpress("behind express.json()", (app, handler) => app.use(express.json()).use(handler), {
    rounds: true,
  }),
  onExpress("below a Router", (app, handler) => app.use("/api", Router().use(handler)), {
    basePath: "/api/v1",
  }),
  onExpress("behind express.json() that keeps rawBody", (app, handler) =>
    app.use(express.json({ verify })).use(handler),
  ),
  expressFirst,
  onFastify("", "/v1"),
  onFastify("/api", "/v1"),
  onHono("/api/v1"),
  onFastify("/a/b/v1", ""),
  koa,
];

/** The hosts whose stores are at /v1, and get every request there as it was sent. */
export const transparentHosts = [node.plain, onFastify("", "/v1"), expressFirst, koa];
/** Its server is responsible for all but the content. */
export const hostOfContent = onHono("/v1");
