import type { EventEmitter } from "node:events";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { parseOptions } from "../options.js";
import { NO_HTTP2, respondInTurn, socketAddress, type NodeOptions } from "./handler.js";
import { createResponder } from "./respond.js";

/** Node's own servers for HTTP/1.1. */
export type NodeServer = Server | SecureServer;

/** Emits an event; returns whether it had a listener. */
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/**
 * Mounts a store on a server as a guest: it takes the requests below the base path before any
 * listener, also one that is added later, and nothing else. Upgrades, CONNECT, unknown expectations
 * and whatever Node's parser refuses stay the host's. Node itself sends `100 Continue` to a client
 * that expects it, unless the host listens for `checkContinue`: then the store asks only for the
 * bodies that it wants.
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

  /** Returns whether the request was below the base path. */
  function take(event: string | symbol, request: unknown, response: unknown): boolean {
    if (event !== "request" && event !== "checkContinue") return false;
    if (!(request instanceof IncomingMessage && response instanceof ServerResponse)) return false;
    const target = responder.locate(request);
    if (target === undefined) return false;
    const expectation = event === "request" ? "none" : "continue";
    const exchange = { request, response, target, expectation } as const;
    respondInTurn(responder, { ...exchange, origin: () => origin(request) });
    return true;
  }

  return overrideEmit(server, take);
}

function isServer(server: unknown): boolean {
  return server instanceof Server || server instanceof SecureServer;
}

/** Gives every event of a server to `take` first, then to its listeners unless that returns true. */
function overrideEmit(
  emitter: EventEmitter,
  take: (event: string | symbol, first: unknown, second: unknown) => boolean,
): () => void {
  const server: { emit: Emit } = emitter;
  const isOwn = Object.hasOwn(server, "emit");
  const original = server.emit;
  let isMounted = true;
  const override: Emit = (event, ...args) =>
    (isMounted && take(event, args[0], args[1])) ||
    Reflect.apply(original, server, [event, ...args]);
  server.emit = override;
  return () => {
    isMounted = false;
    // Another override, from after this one, has to stay.
    if (server.emit !== override) return;
    if (isOwn) server.emit = original;
    else Reflect.deleteProperty(server, "emit");
  };
}
