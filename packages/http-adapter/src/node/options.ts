import type { IncomingMessage } from "node:http";
import { mustBeOrigin } from "../host-callback.js";
import {
  must,
  mustBeOptions,
  parseHttpSettings,
  type HttpOptions,
  type HttpSettings,
} from "../settings.js";

/**
 * What the adapter for Node servers can be given; everything has a default. `Seen` is a request as
 * the host knows it: Node's, or what Express, Fastify or Koa make of that.
 */
export interface NodeOptions<Seen = IncomingMessage> extends HttpOptions {
  /**
   * Tells callers without a valid key apart; `undefined` is an unknown origin, which all such
   * callers share. When left out, or when it throws or answers anything else: the address at the other
   * end of the socket.
   * `X-Forwarded-For` is only as true as the proxy that wrote it, so it is for the host to read.
   */
  readonly origin?: ((request: Seen) => string | undefined) | undefined;
}

/** The options, checked and complete. */
export interface NodeSettings<Seen = IncomingMessage> extends HttpSettings {
  readonly origin: (request: Seen) => string | undefined;
}

/**
 * Checks the options and completes them.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseNodeSettings<Request extends IncomingMessage>(
  options: NodeOptions<Request>,
): NodeSettings<Request> {
  return parseHostSettings(options, (request) => request);
}

/**
 * The same for a host whose requests are not Node's own: `nodes` gives the one that is.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseHostSettings<Seen>(
  options: NodeOptions<Seen>,
  nodes: (seen: Seen) => IncomingMessage,
): NodeSettings<Seen> {
  mustBeOptions(options);
  const { origin, ...others } = options;
  const settings = parseHttpSettings(others);
  must(origin === undefined || typeof origin === "function", "origin", "must be a function");
  return Object.freeze({
    ...settings,
    origin: (seen: Seen) => {
      const address = socketAddress(nodes(seen));
      if (origin === undefined) return address;
      try {
        return mustBeOrigin(origin(seen), settings.onError);
      } catch (cause) {
        settings.onError(cause);
        return address;
      }
    },
  });
}

/** The address at the other end of a request's socket. */
export function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}
