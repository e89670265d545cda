import { createServer, type Server } from "node:http";

/**
 * How long and how large what a stranger sends may be, before the store has a word in it: times in
 * milliseconds, by Node's own names.
 */
export interface ServerLimits {
  /** From the first byte, or the connection, to the end of the header section; then 408. */
  readonly headersTimeout: number;
  /** From the first byte to the end of the body; then 408. At least `headersTimeout`. */
  readonly requestTimeout: number;
  /** How often both are looked at: how much later than told a slow request may end. */
  readonly connectionsCheckingInterval: number;
  /** How long a connection may stay idle between two requests. */
  readonly keepAliveTimeout: number;
  /** How long nothing may move on a connection, such as when its client reads no answers. */
  readonly timeout: number;
  /** How many bytes the request line and the header section may have together; then 414 or 431. */
  readonly maxHeaderSize: number;
}

/** The limits that nobody has changed: a slow request is gone, whatever it does, within 15 s. */
export const SERVER_LIMITS: ServerLimits = Object.freeze({
  headersTimeout: 8_000,
  requestTimeout: 12_000,
  connectionsCheckingInterval: 500,
  keepAliveTimeout: 5_000,
  timeout: 30_000,
  maxHeaderSize: 16_384,
});

/**
 * Creates a server that is fit to face strangers, to mount a store on: Node's own limits are minutes
 * long. It also answers a client that has said all and closes its side first, and does not limit the
 * requests of a connection, since Node answers those beyond the limit with an empty 503.
 */
export function createHardenedServer(limits: Partial<ServerLimits> = {}): Server {
  const { timeout, ...options } = { ...SERVER_LIMITS, ...limits };
  const server = createServer(options);
  server.timeout = timeout;
  return Object.assign(server, { httpAllowHalfOpen: true });
}
