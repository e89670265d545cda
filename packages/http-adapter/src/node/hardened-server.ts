import { createServer, type Server } from "node:http";
import { must } from "../settings.js";

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
 * @throws TypeError that names the limit, when one is wrong or unknown.
 */
export function createHardenedServer(limits: ChosenLimits = {}): Server {
  const { timeout, ...options } = parseLimits(limits);
  const server = createServer(options);
  server.timeout = timeout;
  return Object.assign(server, { httpAllowHalfOpen: true });
}

/** Those to change; what is left out, or `undefined`, stays as it is. */
type ChosenLimits = { readonly [Name in keyof ServerLimits]?: number | undefined };

function parseLimits(chosen: ChosenLimits): ServerLimits {
  const known = Object.keys(SERVER_LIMITS);
  for (const [name, value] of Object.entries(chosen)) {
    must(known.includes(name), name, `is unknown; known are ${known.join(", ")}`);
    must(value === undefined || isCount(value), name, "must be a non-negative integer");
  }
  const { headersTimeout, requestTimeout, connectionsCheckingInterval } = chosen;
  const { keepAliveTimeout, timeout, maxHeaderSize } = chosen;
  return {
    headersTimeout: headersTimeout ?? SERVER_LIMITS.headersTimeout,
    requestTimeout: requestTimeout ?? SERVER_LIMITS.requestTimeout,
    connectionsCheckingInterval:
      connectionsCheckingInterval ?? SERVER_LIMITS.connectionsCheckingInterval,
    keepAliveTimeout: keepAliveTimeout ?? SERVER_LIMITS.keepAliveTimeout,
    timeout: timeout ?? SERVER_LIMITS.timeout,
    maxHeaderSize: maxHeaderSize ?? SERVER_LIMITS.maxHeaderSize,
  };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
