import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIP, type IPVersion } from "node:net";
import type { PetStore } from "@petstore/core";
import { parseAddress } from "@petstore/core/internal";
import { parseOptions, type HttpOptions, type HttpSettings } from "../options.js";
import { createRunInTurn } from "./connection.js";
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
    if (!take(request, response, next === undefined)) next?.();
  };
}

/** Creates the function that responds to a request if it is below the base path or `isOurs`. Returns whether it does. */
export function createTaker<Request extends IncomingMessage = IncomingMessage>(
  store: PetStore,
  settings: HttpSettings,
  { clientAddress: addressOf = socketAddress }: NodeOptions<Request>,
) {
  const responder = createResponder(store, settings);
  const runInTurn = createRunInTurn((exchange) => responder.respond(exchange));
  return (request: Request, response: ServerResponse, isOurs: boolean, hasOpenExpect = false) => {
    const target = locateRequest(settings.basePath, request);
    if (target === undefined && !isOurs) return false;
    const clientAddress = () => addressOf(request);
    runInTurn({ request, response, hasOpenExpect, clientAddress, target });
    return true;
  };
}

export function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

/**
 * Creates the function that finds the address of clients behind these proxies, for the option `clientAddress`: the last
 * address in `X-Forwarded-For` that is not a proxy itself. Earlier ones may be the client's inventions. The header of any
 * other peer is not read. If it is missing, or has no address there, the address is the peer's. Ports do not count.
 *
 * ```ts
 * mount(server, store, { clientAddress: clientAddressBehind(["127.0.0.1", "10.1.0.0/16"]) });
 * ```
 * @param proxies IP addresses, and ranges such as `10.0.0.0/8`.
 * @throws TypeError that names the one that is neither.
 */
export function clientAddressBehind(
  proxies: readonly string[],
): (request: IncomingMessage) => string | undefined {
  const trusted = new BlockList();
  for (const proxy of proxies) addProxy(trusted, proxy);
  const isTrusted = (address: string | undefined): boolean =>
    address !== undefined && trusted.check(address, familyOf(address));

  return ({ socket, headers }) => {
    const peer = parseAddress(socket.remoteAddress ?? "");
    const forwarded = headers["x-forwarded-for"];
    if (!isTrusted(peer) || forwarded === undefined) return peer;
    const texts = String(forwarded).split(",");
    // Earlier ones are not parsed: clients may send thousands.
    const client = texts.findLastIndex((text) => !isTrusted(parseAddress(text)));
    return parseAddress(texts[Math.max(0, client)] ?? "") ?? peer;
  };
}

function addProxy(trusted: BlockList, proxy: string): void {
  const [, address = "", range] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(proxy) ?? [];
  const allBits = isIP(address) === 6 ? 128 : 32;
  const bits = Number(range ?? allBits);
  if (isIP(address) === 0 || bits > allBits)
    throw new TypeError(`@petstore/http-adapter: "${proxy}" is neither an IP address nor a range`);
  trusted.addSubnet(address, bits, familyOf(address));
}

function familyOf(address: string): IPVersion {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** The version alone does not tell: on an HTTP/1.1 connection, a client may send another version. */
export function refuseHttp2(request: IncomingMessage): void {
  if ("stream" in request && request.httpVersionMajor > 1) throw new TypeError(NO_HTTP2);
}

export const NO_HTTP2 =
  "@petstore/http-adapter: HTTP/2 is not supported: use a server of node:http or node:https, and let a proxy translate HTTP/2";
