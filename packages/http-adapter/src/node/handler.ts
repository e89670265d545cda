import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import { parseOptions, type HttpOptions } from "../options.js";
import type { Target } from "../route.js";
import { connectionOf } from "./connection.js";
import { createResponder, type Exchange, type Responder } from "./respond.js";

/**
 * The options of a transport on Node's messages; everything has a default. `Request` is the host's type
 * of a request: Node's, Express's or Fastify's.
 */
export interface NodeOptions<Request = IncomingMessage> extends HttpOptions {
  /**
   * Tells callers without a valid key apart; callers with the origin `undefined` share one bucket.
   * Default: the remote address of the socket. `X-Forwarded-For` is not read, because only the host
   * knows whether a proxy that it trusts has written it.
   */
  readonly origin?: ((request: Request) => string | undefined) | undefined;
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
  const { origin = socketAddress } = options;
  return (request, response, next) => {
    if (isHttp2(request)) throw new TypeError(NO_HTTP2);
    const target = responder.locate(request);
    if (target === undefined && next !== undefined) {
      next();
      return;
    }
    const exchange = {
      request,
      response,
      expectation: "none",
      origin: () => origin(request),
    } as const;
    respondInTurn(responder, exchange, target);
  };
}

/**
 * Responds to a request on a host's connection once Node assigns the socket to its response: after the
 * earlier responses, the store's and the host's. A host may call the store for a later request first,
 * so a request that still waits for its socket must not hold up others. After a response that closes
 * the connection, nothing is done (RFC 9112, section 9.6).
 */
export function respondInTurn(
  responder: Responder,
  exchange: Exchange,
  target: Target | undefined,
): void {
  const { request, response } = exchange;
  if (response.socket === null) {
    response.once("socket", () => respondInTurn(responder, exchange, target));
    return;
  }
  const connection = connectionOf(request.socket);
  // The task of the fallback ends with this response, so the response must not wait for it.
  if (connection.inFallback === request) void responder.respond(exchange, target);
  else connection.enqueue(() => responder.respond(exchange, target));
}

/** Returns the remote address of a request's socket. */
export function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

/** The version alone is not enough: on an HTTP/1.1 connection, a client may send another version. */
export function isHttp2(request: IncomingMessage): boolean {
  return "stream" in request && request.httpVersionMajor > 1;
}

export const NO_HTTP2 =
  "@petstore/http-adapter: HTTP/2 is not supported: use a server of node:http or node:https, and let a proxy translate HTTP/2";
