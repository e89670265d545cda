import type { EventEmitter } from "node:events";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { notFound } from "../error.js";
import { parseOptions } from "../options.js";
import { NO_HTTP2, respondInTurn, socketAddress, type NodeOptions } from "./handler.js";
import { createResponder, type Exchange } from "./respond.js";

/** Node's own servers for HTTP/1.1. */
export type NodeServer = Server | SecureServer;

/**
 * Mounts a store on a server as a guest. It takes only the requests below the base path, before any
 * listener, even one that is added later. Upgrades, CONNECT, unknown expectations and the errors of
 * Node's parser are left to the host. Node itself sends `100 Continue` to a client that expects it. If
 * the host listens for `checkContinue`, the store sends it instead, only for the bodies that it reads.
 * A request outside the base path gets 404 if the server has no listener for it.
 *
 * ```ts
 * const server = createServer((_, response) => response.end("The host's own page."));
 * const unmount = mount(server, store);
 * server.listen(3000);
 * ```
 * @returns a function that unmounts. Unmount in reverse order to leave the server as it was.
 * @throws TypeError that names the option, if one is wrong, or if the server is not one of `node:http`
 * or `node:https`.
 */
export function mount(server: NodeServer, store: PetStore, options: NodeOptions = {}): () => void {
  if (!isServer(server)) throw new TypeError(NO_HTTP2);
  const responder = createResponder(store, parseOptions(store, options));
  const { origin = socketAddress } = options;

  function take(event: string | symbol, args: readonly unknown[], inner: Emit): boolean {
    const [request, response] = args;
    const isRequest = event === "request" || event === "checkContinue";
    if (!isRequest || !isMessage(request) || !isResponse(response)) return inner(event, ...args);
    const target = responder.locate(request);
    if (target === undefined && inner(event, ...args)) return true;
    const exchange: Exchange = {
      request,
      response,
      expectation: event === "request" ? "none" : "continue",
      origin: () => origin(request),
    };
    if (target !== undefined) respondInTurn(responder, exchange, target);
    // Without a listener, Node would leave the client without a response.
    else responder.refuse(notFound(), exchange);
    return true;
  }

  return overrideEmit(server, take);
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
 * Calls a function before the listeners of one emitter: `outer` decides which events it passes to
 * `inner`, the original `emit`.
 */
function overrideEmit(
  emitter: EventEmitter,
  outer: (event: string | symbol, args: readonly unknown[], inner: Emit) => boolean,
): () => void {
  const target: { emit: Emit } = emitter;
  const isOwn = Object.hasOwn(emitter, "emit");
  const original = target.emit;
  let isMounted = true;
  const inner: Emit = (...args) => Reflect.apply(original, emitter, args);
  const override: Emit = (event, ...args) =>
    isMounted ? outer(event, args, inner) : inner(event, ...args);
  target.emit = override;
  return () => {
    isMounted = false;
    // A later override stays.
    if (target.emit !== override) return;
    if (isOwn) target.emit = original;
    else Reflect.deleteProperty(emitter, "emit");
  };
}
