import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import { parseOptions, type HttpOptions } from "../options.js";
import { createResponder } from "./response.js";

/**
 * The options of a transport on Node's messages; everything has a default. `Request` is the host's type
 * of a request: Node's, Express's or Fastify's.
 */
export interface NodeOptions<Request = IncomingMessage> extends HttpOptions {
  /**
   * Tells callers without a valid key apart; callers for whom it returns `undefined` share one bucket.
   * Of an IP address, a port does not count. Default: the remote address of the socket. `X-Forwarded-For` is not read,
   * because only the host knows whether a proxy that it trusts has written it: `clientAddressBehind` reads it.
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
 * Creates a handler for a store: `createServer(createNodeHandler(store))`, `app.use(…)`. It responds
 * to requests below the base path. For other requests it calls `next` before it returns or, without
 * `next`, responds with 404.
 *
 * Node sends `100 Continue` before it calls a handler.
 * @throws TypeError that names the option, if one is wrong. The handler throws a TypeError for a
 * request of `node:http2`.
 */
export function createNodeHandler<Request extends IncomingMessage = IncomingMessage>(
  store: PetStore,
  options: NodeOptions<Request> = {},
): NodeHandler<Request> {
  const responder = createResponder(store, parseOptions(store, options));
  const { clientAddress = socketAddress } = options;
  return (request, response, next) => {
    refuseHttp2(request);
    const target = responder.locate(request);
    if (target === undefined && next !== undefined) next();
    else responder.take({ request, response, clientAddress: () => clientAddress(request) }, target);
  };
}

/** Returns the remote address of a request's socket. */
export function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

/** The version alone does not tell: on an HTTP/1.1 connection, a client may send another version. */
export function refuseHttp2(request: IncomingMessage): void {
  if ("stream" in request && request.httpVersionMajor > 1) throw new TypeError(NO_HTTP2);
}

/** The message of the TypeError for a server or a request of `node:http2`. */
export const NO_HTTP2 =
  "@petstore/http-adapter: HTTP/2 is not supported: use a server of node:http or node:https, and let a proxy translate HTTP/2";
