import type { IncomingMessage } from "node:http";
import { must, parseHttpSettings, type HttpOptions, type HttpSettings } from "../settings.js";

/** What the adapter for Node servers can be given; everything has a default. */
export interface NodeOptions extends HttpOptions {
  /**
   * Tells callers without a valid key apart; `undefined` is an unknown origin, which all such
   * callers share. When left out, or when it throws: the address at the other end of the socket.
   * `X-Forwarded-For` is only as true as the proxy that wrote it, so it is for the host to read.
   */
  readonly origin?: ((request: IncomingMessage) => string | undefined) | undefined;
}

/** The options, checked and complete. */
export interface NodeSettings extends HttpSettings {
  readonly origin: (request: IncomingMessage) => string | undefined;
}

/**
 * Checks the options and completes them.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseNodeSettings(options: NodeOptions): NodeSettings {
  const { origin, ...others } = options;
  const settings = parseHttpSettings(others);
  must(origin === undefined || typeof origin === "function", "origin", "must be a function");
  return Object.freeze({
    ...settings,
    origin: origin === undefined ? socketAddress : orSocketAddress(origin, settings.onError),
  });
}

function socketAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

function orSocketAddress(
  origin: (request: IncomingMessage) => string | undefined,
  onError: (cause: unknown) => void,
): (request: IncomingMessage) => string | undefined {
  return (request) => {
    try {
      return origin(request);
    } catch (cause) {
      onError(cause);
      return socketAddress(request);
    }
  };
}
