import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { text } from "node:stream/consumers";
import { connect as connectSecurely } from "node:tls";
import { createNodeHandler, createPetStoreServer, mount } from "@petstore/http-adapter";
import { generate } from "selfsigned";
import type { Host } from "./host.js";

const localhost = [{ name: "commonName", value: "localhost" }];
const { private: key, cert } = await generate(localhost, { keyType: "ec", algorithm: "sha256" });

/** With the host's pages as its fallback. */
const ours: Host = {
  name: "createPetStoreServer",
  basePath: "/v1",
  start: (store, behindProxy) =>
    store === undefined
      ? createServer(pages)
      : createPetStoreServer(store, {
          fallback: pages,
          clientAddress: clientAddressOf(behindProxy),
        }),
};

/** `mount` on a server with the host's pages. */
const mounted = (name: string, basePath: string, create: () => Server | SecureServer): Host => ({
  name,
  basePath,
  start: (store, behindProxy) => {
    const server = create();
    if (store !== undefined)
      mount(server, store, { basePath, clientAddress: clientAddressOf(behindProxy) });
    return server;
  },
});

export const plain = mounted("mount on node:http", "/v1", () => createServer(pages));

const secure: Host = {
  ...mounted("mount on node:https", "/api/v1", () => createSecureServer({ key, cert }, pages)),
  open: (port, host) => connectSecurely({ port, host, ca: cert }),
};

const listener: Host = {
  name: "createNodeHandler in a listener of node:http",
  basePath: "/a/b/v1",
  start: (store, behindProxy) => {
    if (store === undefined) return createServer(pages);
    const handle = createNodeHandler(store, {
      basePath: "/a/b/v1",
      clientAddress: clientAddressOf(behindProxy),
    });
    return createServer((request, response) => {
      handle(request, response, () => pages(request, response));
    });
  },
};

/** Every host without a framework. */
export const hosts: readonly Host[] = [ours, listener, plain, secure];

/** Returns the option `clientAddress` of a host that trusts its proxy, or does not. */
export function clientAddressOf(behindProxy: boolean) {
  return behindProxy
    ? ({ headers }: IncomingMessage) => headers["x-forwarded-for"]?.toString()
    : undefined;
}

const pages: RequestListener = (request, response) => {
  const { url = "", method } = request;
  if (url.startsWith("/hello")) response.end("hello");
  else if (url === "/echo" && method === "POST") void echo(request, response);
  else if (url === "/boom") response.writeHead(500).end("The host's own error page");
  else response.writeHead(404).end("The host's own 404");
};

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.end(await text(request));
}
