import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import { parseOptions, type HttpOptions, type HttpSettings } from "../options.js";
import { createRunInTurn, type Exchange } from "./connection.js";
import { createResponder, locateRequest } from "./response.js";

/**
 * The options of a transport on Node's messages; everything has a default. `Request` is the host's type
 * of a request: Node's, Express's or Fastify's.
 */
export interface NodeOptions<Request = IncomingMessage> extends HttpOptions {
  /**
   * Tells callers without a valid key apart; those for whom it returns `undefined` share one bucket. The port of an IP
   * address does not count. Default: the remote address of the socket. Only the host knows whether a proxy that it trusts
   * has written `X-Forwarded-For`: `clientAddressBehind` reads it.
   */
  readonly clientAddress?: ((request: Request) => string | undefined) | undefined;
}

/** A listener for `request`, and a middleware for Express and frameworks with the same signature. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: () => void,
) => void;

/**
 * Creates a handler for a store: `createServer(createNodeHandler(store))`, `app.use(…)`. It responds to requests below
 * the base path. For others it calls `next` before it returns or, without `next`, responds with 404. Node sends
 * `100 Continue` before it calls a handler.
 * @throws TypeError that names the option, if one is wrong. The handler throws one for a request of `node:http2`.
 */
export function createNodeHandler<Request extends IncomingMessage = IncomingMessage>(
  store: PetStore,
  options: NodeOptions<Request> = {},
): NodeHandler<Request> {
  const take = createTaker(store, parseOptions(store, options), options);
  return (request, response, next) => {
    refuseHttp2(request);
    if (!take({ request, response }, next === undefined)) next?.();
  };
}

/** Creates the function that responds to a request if it is below the base path or `isOurs`. Returns whether it does. */
export function createTaker<Request extends IncomingMessage = IncomingMessage>(
  store: PetStore,
  settings: HttpSettings,
  { clientAddress: addressOf = socketAddress }: NodeOptions<Request>,
) {
  const responder = createResponder(store, settings);
  const runInTurn = createRunInTurn();
  return (
    { request, response, hasOpenExpect }: Omit<Exchange, "clientAddress"> & { request: Request },
    isOurs: boolean,
  ): boolean => {
    const target = locateRequest(settings.basePath, request);
    if (target === undefined && !isOurs) return false;
    const exchange = { request, response, hasOpenExpect, clientAddress: () => addressOf(request) };
    runInTurn(exchange, () => responder.respond(exchange, target));
    return true;
  };
}

export function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

/** The version alone does not tell: on an HTTP/1.1 connection, a client may send another version. */
export function refuseHttp2(request: IncomingMessage): void {
  if ("stream" in request && request.httpVersionMajor > 1) throw new TypeError(NO_HTTP2);
}

export const NO_HTTP2 =
  "@petstore/http-adapter: HTTP/2 is not supported: use a server of node:http or node:https, and let a proxy translate HTTP/2";
