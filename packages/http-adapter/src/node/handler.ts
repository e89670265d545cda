import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PetStore } from "@petstore/core";
import { parseOptions, type HttpOptions } from "../options.js";
import { notFound } from "../refusal.js";
import { connectionOf } from "./connection.js";
import { createResponder, type Exchange, type Responder } from "./respond.js";

/**
 * The options of a transport on Node's messages; everything has a default. `Request` is a request as
 * the host knows it: Node's, or what Express or Fastify makes of it.
 */
export interface NodeOptions<Request = IncomingMessage> extends HttpOptions {
  /**
   * Tells callers without a valid key apart; callers with the origin `undefined` share one bucket.
   * Default: the address at the other end of the socket. `X-Forwarded-For` is only as true as the
   * proxy that wrote it, so the host has to read it.
   */
  readonly origin?: ((request: Request) => string | undefined) | undefined;
}

/** A listener for `request`, and a middleware for every framework that calls them like Express. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: () => void,
) => void;

/**
 * Creates a handler for a store: `createServer(createNodeHandler(store))`, `app.use(…)`. It responds
 * to requests below the base path. For the others it calls `next` before it returns or, without a
 * `next`, responds with 404.
 *
 * Node sends `100 Continue` before it calls a handler.
 * @throws TypeError that names the option, when one is wrong. The handler throws a TypeError at a
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
    const exchange = { request, response, origin: () => origin(request) };
    if (target !== undefined) {
      respondInTurn(responder, { ...exchange, target, expectation: "none" });
    } else if (next !== undefined) next();
    else responder.refuse(notFound(), exchange);
  };
}

/**
 * Responds to a request on a host's connection in its turn: after the store's earlier requests on it,
 * and once Node has given the response the socket, which it does when the host's responses before it
 * are written. Behind a response that closes the connection, nothing is done (RFC 9112, section 9.6).
 */
export function respondInTurn(responder: Responder, exchange: Exchange): void {
  const { request, response } = exchange;
  connectionOf(request.socket).enqueue(async () => {
    const socket = response.socket ?? (await socketOf(response));
    if (socket.destroyed || socket.writableEnded) return;
    await responder.respond(exchange);
  });
}

/** Resolves when Node gives a response its socket; never, when an earlier one closes the connection. */
function socketOf(response: ServerResponse): Promise<Socket> {
  return new Promise((resolve) => response.once("socket", resolve));
}

/** The address at the other end of a request's socket. */
export function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

/** Not by the version: Node lets a client of HTTP/1.1 write another one. */
export function isHttp2(request: IncomingMessage): boolean {
  return "stream" in request && request.httpVersionMajor > 1;
}

export const NO_HTTP2 =
  "@petstore/http-adapter: HTTP/2 is not supported: use a server of node:http or node:https, and let a proxy translate HTTP/2";
