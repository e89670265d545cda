import type { EventEmitter } from "node:events";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { parseOptions } from "../options.js";
import { createTaker, NO_HTTP2, type NodeOptions } from "./handler.js";

/**
 * Mounts a store on a server as a guest. It takes only the requests below the base path, before any listener, even one
 * that is added later. Upgrades, CONNECT, unknown expectations and the errors of Node's parser are left to the host. Node
 * itself sends `100 Continue` to a client that expects it. If the host listens for `checkContinue`, the store sends it
 * instead, only for the bodies that it reads. A request outside the base path gets 404 if the server has no listener.
 * Several stores can be mounted at different base paths. If these nest, the longest one takes the request.
 *
 * ```ts
 * const server = createServer((_, response) => response.end("The host's own page."));
 * const unmount = mount(server, store);
 * server.listen(3000);
 * ```
 * @returns a function that unmounts the store.
 * @throws TypeError that names the option, if one is wrong; if the server is not one of `node:http` or `node:https`, or
 * is one of `createPetStoreServer`; or if another store is mounted at the base path.
 */
export function mount(
  server: Server | SecureServer,
  store: PetStore,
  options: NodeOptions = {},
): () => void {
  if (![Server, SecureServer].some((kind) => server instanceof kind)) throw new TypeError(NO_HTTP2);
  if ("drain" in server) throw new TypeError(OURS);
  const settings = parseOptions(store, options);
  const { basePath } = settings;
  const host: typeof server & { [MOUNTS]?: Mount[] | undefined } = server;
  const mounts = (host[MOUNTS] ??= overrideEmit(server));
  if (mounts.some((other) => other.basePath === basePath)) {
    throw new TypeError(
      `@petstore/http-adapter: the server already has a store at the base path "${basePath}"`,
    );
  }
  const mounted = { basePath, take: createTaker(store, settings, options) };
  mounts.push(mounted);
  mounts.sort((one, other) => other.basePath.length - one.basePath.length);
  return () => {
    const index = mounts.indexOf(mounted);
    if (index !== -1) mounts.splice(index, 1);
  };
}

const OURS =
  "@petstore/http-adapter: a server of createPetStoreServer takes no further store: mount both on a server of node:http";

interface Mount {
  readonly basePath: string;
  readonly take: ReturnType<typeof createTaker>;
}

const MOUNTS = Symbol("petstore: mounts");

const isResponse = (value: unknown): value is ServerResponse => value instanceof ServerResponse;

/** Passes each request to the stores before the listeners of the server. Returns the list for the stores. */
function overrideEmit(emitter: EventEmitter): Mount[] {
  const mounts: Mount[] = [];
  const server: { emit(event: string | symbol, ...args: unknown[]): boolean } = emitter;
  const emit = server.emit.bind(server);
  server.emit = (event, ...args) => {
    const [request, response] = args;
    const hasOpenExpect = event === "checkContinue";
    const isMessage = request instanceof IncomingMessage && isResponse(response);
    if (!isMessage || (event !== "request" && !hasOpenExpect)) return emit(event, ...args);
    for (const { take } of mounts) if (take(request, response, false, hasOpenExpect)) return true;
    if (emit(event, ...args)) return true;
    // Without a listener, Node would leave the client without a response.
    return mounts[0]?.take(request, response, true, hasOpenExpect) === true;
  };
  return mounts;
}
