import type { EventEmitter } from "node:events";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { parseOptions } from "../options.js";
import { locate } from "../route.js";
import { NO_HTTP2, respondInTurn, socketAddress, type NodeOptions } from "./handler.js";
import { createResponder } from "./respond.js";

/** Node's own servers for HTTP/1.1. */
export type NodeServer = Server | SecureServer;

/**
 * Mounts a store on a server as a guest. It takes only the requests below the base path, before any
 * listener, even one that is added later. Upgrades, CONNECT, unknown expectations and the errors of
 * Node's parser are left to the host. Node itself sends `100 Continue` to a client that expects it. If
 * the host listens for `checkContinue`, the store sends it instead, only for the bodies that it reads.
 * A request outside the base path gets 404 if the server has no listener for it.
 *
 * Several stores can be mounted at different base paths. If these nest, the longest one takes the request.
 *
 * ```ts
 * const server = createServer((_, response) => response.end("The host's own page."));
 * const unmount = mount(server, store);
 * server.listen(3000);
 * ```
 * @returns a function that unmounts. Unmount in reverse order to leave the server as it was.
 * @throws TypeError that names the option, if one is wrong; if the server is not one of `node:http`
 * or `node:https`; or if it already has a store at the base path.
 */
export function mount(server: NodeServer, store: PetStore, options: NodeOptions = {}): () => void {
  if (!isServer(server)) throw new TypeError(NO_HTTP2);
  const settings = parseOptions(store, options);
  const { basePath } = settings;
  const responder = createResponder(store, settings);
  const { origin = socketAddress } = options;
  const basePaths = addBasePath(server, basePath);

  function isNested({ url = "" }: IncomingMessage): boolean {
    if (basePaths.size === 1) return false;
    const longer = [...basePaths].filter(({ length }) => length > basePath.length);
    return longer.some((each) => locate(each, url) !== undefined);
  }

  let isMounted = true;

  function take(event: string | symbol, args: readonly unknown[], inner: Emit): boolean {
    const [request, response] = args;
    const isRequest = event === "request" || event === "checkContinue";
    if (!isMounted || !isRequest || !isMessage(request) || !isResponse(response)) {
      return inner(event, ...args);
    }
    const target = isNested(request) ? undefined : responder.locate(request);
    // Without a listener, Node would leave the client without a response.
    if (target === undefined && inner(event, ...args)) return true;
    const expectation = event === "request" ? "none" : "continue";
    const exchange = { request, response, expectation, origin: () => origin(request) } as const;
    respondInTurn(responder, exchange, target);
    return true;
  }

  const restoreEmit = overrideEmit(server, take);
  return () => {
    if (!isMounted) return;
    isMounted = false;
    basePaths.delete(basePath);
    if (basePaths.size === 0) Reflect.deleteProperty(server, BASE_PATHS);
    restoreEmit();
  };
}

const BASE_PATHS = Symbol("petstore: base paths");

/**
 * Adds a base path to those of a server's stores, and returns all of them.
 * @throws TypeError if the server already has a store there: only one of the two would get requests.
 */
export function addBasePath(
  server: NodeServer & { [BASE_PATHS]?: Set<string> | undefined },
  basePath: string,
): Set<string> {
  const basePaths = (server[BASE_PATHS] ??= new Set());
  if (!basePaths.has(basePath)) return basePaths.add(basePath);
  throw new TypeError(
    `@petstore/http-adapter: the server already has a store at the base path "${basePath}"`,
  );
}

function isServer(value: unknown): boolean {
  return value instanceof Server || value instanceof SecureServer;
}

function isMessage(value: unknown): value is IncomingMessage {
  return value instanceof IncomingMessage;
}

function isResponse(value: unknown): value is ServerResponse {
  return value instanceof ServerResponse;
}

/** Emits an event; returns whether it had a listener. */
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/**
 * Calls `outer` instead of a server's `emit`; `outer` decides which events it passes to `inner`, the
 * `emit` from before. Returns a function that undoes this.
 */
function overrideEmit(
  emitter: EventEmitter,
  outer: (event: string | symbol, args: readonly unknown[], inner: Emit) => boolean,
): () => void {
  const server: { emit: Emit } = emitter;
  const isOwn = Object.hasOwn(server, "emit");
  const original = server.emit;
  const inner: Emit = (...args) => Reflect.apply(original, server, args);
  const override: Emit = (event, ...args) => outer(event, args, inner);
  server.emit = override;
  return () => {
    // A later override stays.
    if (server.emit !== override) return;
    if (isOwn) server.emit = original;
    else Reflect.deleteProperty(server, "emit");
  };
}
