import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { text } from "node:stream/consumers";
import { connect as connectSecurely } from "node:tls";
import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { createMemoryStorage, type PetStore } from "@petstore/core";
import { createFetchHandler, createNodeHandler } from "@petstore/http-adapter";
import { createPetStoreServer, petStorePlugin } from "@petstore/http-adapter";
import type { NodeHandler, NodeOptions } from "@petstore/http-adapter";
import express, { Router, type ErrorRequestHandler, type Express, type Request } from "express";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { Hono, type Context } from "hono";
import Koa from "koa";
import { generate } from "selfsigned";
import { listen, makeStore, mountedOn } from "../support/serve.js";
import type { AnyServer, Listening, Made } from "../support/serve.js";
import type { Open } from "../support/wire.js";

/** A host with routes of its own: `GET /hello`; `POST /echo`, which returns its JSON; `GET /boom`, which fails. */
export interface Host {
  readonly name: string;
  /** Where the store's clients see it. */
  readonly basePath: string;
  /** Starts the host, or the host as it is without a store. Behind a proxy, it trusts `X-Forwarded-For` in its own way. */
  readonly start: (store: PetStore | undefined, proxied: boolean) => Promise<AnyServer> | AnyServer;
  /** How a client connects, if not by TCP. */
  readonly open?: Open;
  /** Whether the host resolves dot segments before the store sees them. */
  readonly resolvesDots?: boolean;
  /** Whether a body parser of the host comes first, which rounds large numbers. */
  readonly rounds?: boolean;
}

/** Starts a host for the length of a test. It is asked for the list of pets by default. */
export async function startHost(
  { basePath, start, open }: Host,
  { isMounted = true, behindProxy = false, storage = createMemoryStorage() } = {},
): Promise<Made & Listening> {
  const made = await makeStore({ storage });
  const server = await start(isMounted ? made.store : undefined, behindProxy);
  const listening = await listen(server, made.key, open);
  const path = `${basePath}/pets`;
  return { ...made, ...listening, call: (call) => listening.call({ path, ...call }) };
}

const pages: RequestListener = (request, response) => {
  const { url = "", method } = request;
  if (url.startsWith("/hello")) response.end("hello");
  else if (url === "/echo" && method === "POST")
    void text(request).then((sent) => response.end(sent));
  else if (url === "/boom") response.writeHead(500).end("The host's own error page");
  else response.writeHead(404).end("The host's own 404");
};

function onNode(
  name: string,
  basePath: string,
  create: (store: PetStore, options: NodeOptions) => AnyServer,
  bare: () => AnyServer = () => createServer(pages),
): Host {
  const forwarded = ({ headers }: IncomingMessage) => headers["x-forwarded-for"]?.toString();
  const start: Host["start"] = (store, behindProxy) => {
    const clientAddress = behindProxy ? forwarded : undefined;
    return store === undefined ? bare() : create(store, { basePath, clientAddress });
  };
  return { name, basePath, start };
}

const mounted = (name: string, basePath: string, create: () => AnyServer): Host =>
  onNode(name, basePath, (store, options) => mountedOn(create(), store, options), create);

const plain = mounted("mount on node:http", "/v1", () => createServer(pages));
const localhost = [{ name: "commonName", value: "localhost" }];
const { private: key, cert } = await generate(localhost, { keyType: "ec", algorithm: "sha256" });
const secure: Host = {
  ...mounted("mount on node:https", "/api/v1", () => createSecureServer({ key, cert }, pages)),
  open: (port, host) => connectSecurely({ port, host, ca: cert }),
};

const fail = (): never => {
  throw new Error("the host's own");
};

function createKoaServer(handle?: NodeHandler): Server {
  const app = new Koa();
  app.silent = true;
  app.use(async (context, next) => {
    const isElsewhere = await new Promise<boolean>((resolve) => {
      context.res.once("close", () => resolve(false));
      if (handle) handle(context.req, context.res, () => resolve(true));
      else resolve(true);
    });
    context.respond = isElsewhere;
    if (isElsewhere) await next();
  });
  app.use(async (context) => {
    const { method, path } = context;
    if (path === "/hello") context.body = "hello";
    if (path === "/echo" && method === "POST") context.body = await text(context.req);
    if (path === "/boom") fail();
  });
  const respond = app.callback();
  return createServer((request, response) => void respond(request, response));
}

const koa = onNode(
  "Koa",
  "/v1",
  (store, options) => createKoaServer(createNodeHandler(store, options)),
  createKoaServer,
);

function onExpress(
  where: string,
  compose: (app: Express, handler: NodeHandler<Request> | Router) => void,
  more: Partial<Host> = {},
): Host {
  const start: Host["start"] = (store, behindProxy) => {
    const app = express();
    if (behindProxy) app.set("trust proxy", 1);
    const clientAddress = behindProxy ? ({ ip }: Request) => ip : undefined;
    compose(app, store === undefined ? Router() : createNodeHandler(store, { clientAddress }));
    app.get("/hello", (_, response) => void response.send("hello"));
    app.post("/echo", express.json(), ({ body }, response) => void response.send(body));
    app.get("/boom", fail);
    const onError: ErrorRequestHandler = (error: { status?: number }, _, response, next) => {
      if (response.headersSent) next(error);
      else response.status(error.status ?? 500).send("The host's own error page");
    };
    return createServer(app.use(onError));
  };
  return { name: `Express, ${where}`, basePath: "/v1", start, ...more };
}

const expressFirst = onExpress("app.use before express.json()", (app, handler) =>
  app.use(handler).use(express.json()),
);

const verify = (request: object, _: unknown, rawBody: Buffer): void =>
  void Object.assign(request, { rawBody });

export function onFastify(
  prefix: string,
  basePath: string,
  decorate: (app: FastifyInstance) => void = () => undefined,
): Host {
  const start: Host["start"] = async (store, behindProxy) => {
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
  };
  return { name: `Fastify, prefix "${prefix}"`, basePath: prefix + basePath, start };
}

function onHono(basePath: string): Host {
  const start: Host["start"] = (store, behindProxy) => {
    const app = new Hono();
    const clientAddress = (request: globalThis.Request, context: Context, isTrusted: boolean) =>
      isTrusted
        ? (request.headers.get("X-Forwarded-For") ?? undefined)
        : getConnInfo(context).remote.address;
    const handle = store && createFetchHandler(store, { basePath, clientAddress });
    if (handle)
      app.all(`${basePath}/*`, (context) => handle(context.req.raw, context, behindProxy));
    app.get("/hello", (context) => context.text("hello"));
    app.post("/echo", async (context) => context.json(await context.req.json<object>()));
    app.get("/boom", fail);
    app.onError((_, context) => context.text("The host's own error page", 500));
    const server = createAdaptorServer({ fetch: app.fetch });
    if (!("closeAllConnections" in server)) throw new Error("no server for HTTP/1.1");
    return server;
  };
  const name = "createFetchHandler in Hono on @hono/node-server";
  return { name, basePath, resolvesDots: true, start };
}

export const hosts: readonly Host[] = [
  onNode("createPetStoreServer", "/v1", (store, options) =>
    createPetStoreServer(store, { ...options, fallback: pages }),
  ),
  onNode("createNodeHandler in a listener of node:http", "/a/b/v1", (store, options) => {
    const handle = createNodeHandler(store, options);
    return createServer((...of) => handle(...of, () => pages(...of)));
  }),
  plain,
  secure,
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

export const transparentHosts = [plain, onFastify("", "/v1"), expressFirst, koa];
export const hostOfContent = onHono("/v1");
