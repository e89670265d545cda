import { createServer } from "node:http";
import { createNodeHandler, type NodeHandler } from "@petstore/http-adapter";
import express, { Router, type ErrorRequestHandler, type Express, type Request } from "express";
import type { Host } from "./host.js";

/** Returns how an Express application starts, with the store wherever `compose` puts it. */
function startWith(
  compose: (app: Express, handler: NodeHandler<Request> | undefined) => void,
): Host["start"] {
  return (store, behindProxy) => {
    const app = express();
    if (behindProxy) app.set("trust proxy", 1);
    const origin = behindProxy ? ({ ip }: Request) => ip : undefined;
    compose(app, store === undefined ? undefined : createNodeHandler(store, { origin }));
    app.get("/hello", (_, response) => void response.send("hello"));
    app.post("/echo", express.json(), ({ body }, response) => void response.send(body));
    app.get("/boom", () => {
      throw new Error("the host's own");
    });
    app.use(onError);
    return createServer(app);
  };
}

/** The host's own error handler; Express knows it by its four parameters. */
const onError: ErrorRequestHandler = (error: { status?: number }, _, response, next) => {
  if (response.headersSent) next(error);
  else response.status(error.status ?? 500).send("The host's own error page");
};

export const plain: Host = {
  name: "Express, app.use before express.json()",
  basePath: "/v1",
  start: startWith((app, handler) => {
    if (handler !== undefined) app.use(handler);
    app.use(express.json());
  }),
};

export const belowRouter: Host = {
  name: "Express, below a Router at /api",
  basePath: "/api/v1",
  start: startWith((app, handler) => {
    const api = Router();
    if (handler !== undefined) api.use(handler);
    app.use("/api", api);
  }),
};

export const behindParser: Host = {
  name: "Express, behind express.json()",
  basePath: "/v1",
  start: startWith((app, handler) => {
    app.use(express.json());
    if (handler !== undefined) app.use(handler);
  }),
  rounds: true,
};

export const behindParserKeepingBytes: Host = {
  name: "Express, behind express.json() that keeps rawBody",
  basePath: "/v1",
  start: startWith((app, handler) => {
    app.use(
      express.json({ verify: (request, _, rawBody) => void Object.assign(request, { rawBody }) }),
    );
    if (handler !== undefined) app.use(handler);
  }),
};
