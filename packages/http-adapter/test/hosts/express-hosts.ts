import { createServer } from "node:http";
import { createNodeHandler, type NodeHandler } from "@petstore/http-adapter";
import express, { Router, type ErrorRequestHandler, type Express, type Request } from "express";
import { AFTER_NODE } from "./after-node.js";
import type { Host } from "./host.js";

type Handler = NodeHandler<Request>;

/** An Express application, with the store wherever `compose` puts it. */
function createHost(
  name: string,
  basePath: string,
  compose: (app: Express, handler: Handler | undefined) => void,
  skips: Host["skips"] = {},
): Host {
  return {
    name: `Express, ${name}`,
    basePath,
    start: ({ store, behindProxy }) => {
      const app = express();
      if (behindProxy) app.set("trust proxy", 1);
      const origin = behindProxy ? ({ ip }: Request) => ip : undefined;
      compose(app, store === undefined ? undefined : createNodeHandler(store, { origin }));
      app.get("/hello", (_, response) => void response.send("hello"));
      app.post("/echo", express.json(), ({ body }, response) => {
        response.send((body as { name: string }).name);
      });
      app.get("/boom", () => {
        throw new Error("the host's own");
      });
      app.use(onError);
      return { server: createServer(app) };
    },
    skips: { ...AFTER_NODE, ...skips },
  };
}

/** The host's own error handler; Express knows it by its four parameters. */
const onError: ErrorRequestHandler = (error: { status?: number }, _, response, next) => {
  if (response.headersSent) next(error);
  else response.status(error.status ?? 500).send("The host's own error page");
};

const PARSER_FIRST = "the host's body parser comes first, as the host has asked";

export const plain = createHost("app.use before express.json()", "/v1", (app, handler) => {
  if (handler !== undefined) app.use(handler);
  app.use(express.json());
});

export const belowRouter = createHost("below a Router at /api", "/api/v1", (app, handler) => {
  const api = Router();
  if (handler !== undefined) api.use(handler);
  app.use("/api", api);
});

export const behindParser = createHost(
  "behind express.json()",
  "/v1",
  (app, handler) => {
    app.use(express.json());
    if (handler !== undefined) app.use(handler);
  },
  {
    "201: int64 is exact at both ends": `${PARSER_FIRST}, and rounds: test/parsed-body.test.ts`,
    "400: a body that is no JSON": PARSER_FIRST,
    "400: a number beyond int64": `${PARSER_FIRST}, and rounds: test/parsed-body.test.ts`,
    "413: a chunked body over the limit": `${PARSER_FIRST}, with the limit of its own`,
    "415: other media types, charsets and codings": PARSER_FIRST,
  },
);

export const behindParserKeepingBytes = createHost(
  "behind express.json() that keeps rawBody",
  "/v1",
  (app, handler) => {
    app.use(
      express.json({ verify: (request, _, rawBody) => void Object.assign(request, { rawBody }) }),
    );
    if (handler !== undefined) app.use(handler);
  },
  {
    "400: a body that is no JSON": PARSER_FIRST,
    "415: other media types, charsets and codings": PARSER_FIRST,
  },
);
