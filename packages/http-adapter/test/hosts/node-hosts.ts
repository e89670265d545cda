import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { json } from "node:stream/consumers";
import { connect as connectSecurely } from "node:tls";
import {
  createNodeHandler,
  createPetStoreServer,
  mount,
  type NodeOptions,
} from "@petstore/http-adapter";
import { createSelfSigned } from "../support/self-signed.js";
import { AFTER_NODE } from "./after-node.js";
import type { Host, Setting } from "./host.js";

const identity = createSelfSigned();

/** `mount` on a server for HTTP. */
export const plain: Host = {
  name: "node:http",
  basePath: "/v1",
  start: (setting) => {
    const server = createServer(host);
    return { server, unmount: mountOn(server, setting) };
  },
  skips: AFTER_NODE,
};

/** A server of ours, with the host's pages as its fallback. */
export const ours: Host = {
  name: "createPetStoreServer",
  basePath: "/v1",
  start: ({ store, behindProxy }) => ({
    server:
      store === undefined
        ? createServer(host)
        : createPetStoreServer(store, { fallback: host, ...optionsOf(behindProxy) }),
  }),
};

/** `mount` on a server for HTTPS. */
export const secure: Host = {
  name: "node:https",
  basePath: "/api/v1",
  start: (setting) => {
    const server = createSecureServer(identity, host);
    return {
      server,
      open: (port, address) => connectSecurely({ port, host: address, ca: identity.cert }),
      unmount: mountOn(server, setting, "/api/v1"),
    };
  },
  skips: AFTER_NODE,
};

/** The handler, called by a listener. */
export const listener: Host = {
  name: "createNodeHandler in a listener of node:http",
  basePath: "/a/b/v1",
  start: ({ store, behindProxy }) => {
    if (store === undefined) return { server: createServer(host) };
    const handle = createNodeHandler(store, {
      basePath: "/a/b/v1",
      ...optionsOf(behindProxy),
    });
    return {
      server: createServer((request, response) => {
        handle(request, response, () => host(request, response));
      }),
    };
  },
  skips: AFTER_NODE,
};

function mountOn(
  server: Parameters<typeof mount>[0],
  { store, behindProxy }: Setting,
  basePath = "/v1",
): () => void {
  if (store === undefined) return () => undefined;
  return mount(server, store, { basePath, ...optionsOf(behindProxy) });
}

function optionsOf(behindProxy: boolean): NodeOptions {
  return behindProxy ? { origin: lastHop } : {};
}

/** The address that the proxy next to the host has seen. */
function lastHop({ headers }: IncomingMessage): string | undefined {
  return headers["x-forwarded-for"]?.toString().split(",").at(-1)?.trim();
}

function host(request: IncomingMessage, response: ServerResponse): void {
  const { url = "", method } = request;
  if (url.startsWith("/hello")) response.end("hello");
  else if (url === "/echo" && method === "POST") void echo(request, response);
  else if (url === "/boom") response.writeHead(500).end("The host's own error page");
  else response.writeHead(404).end("The host's own 404");
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: unknown = await json(request).catch(() => ({}));
  response.end(String(Object.entries(body ?? {}).find(([name]) => name === "name")?.[1]));
}
