import type { EventEmitter } from "node:events";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { parseOptions } from "../options.js";
import { notFound } from "../refusal.js";
import { NO_HTTP2, respondInTurn, socketAddress, type NodeOptions } from "./handler.js";
import { createResponder } from "./respond.js";

/** Node's own servers for HTTP/1.1. */
export type NodeServer = Server | SecureServer;

/**
 * Mounts a store on a server as a guest: it takes the requests below the base path before any
 * listener, also one that is added later, and nothing else. Upgrades, CONNECT, unknown expectations
 * and whatever Node's parser refuses stay the host's. Node itself sends `100 Continue` to a client
 * that expects it, unless the host listens for `checkContinue`: then the store asks only for the
 * bodies that it wants. A request elsewhere gets 404 if the server has no listener for it.
 *
 * ```ts
 * const server = createServer((_, response) => response.end("The host's own page."));
 * const unmount = mount(server, store);
 * server.listen(3000);
 * ```
 * @returns a function that unmounts. Unmount in reverse order to leave the server as it was.
 * @throws TypeError that names the option, when one is wrong, or when the server is none of
 * `node:http` or `node:https`.
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
    if (target === undefined) {
      const isHeard = inner(event, ...args);
      // Node would leave the client without a response.
      if (!isHeard)
        responder.refuse(notFound(), { request, response, origin: () => origin(request) });
      return true;
    }
    const expectation = event === "request" ? "none" : "continue";
    const exchange = { request, response, target, expectation } as const;
    respondInTurn(responder, { ...exchange, origin: () => origin(request) });
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
 * Puts a function in front of the listeners of one emitter: `outer` decides what reaches `inner`,
 * which is the `emit` as it was.
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
    // An override from after this one has to stay.
    if (target.emit !== override) return;
    if (isOwn) target.emit = original;
    else Reflect.deleteProperty(emitter, "emit");
  };
}
