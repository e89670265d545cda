import type { Headers, HttpRequest } from "../http-message.js";
import { ALLOWED_METHODS } from "../request/route.js";

export interface CorsOptions {
  /** Origins such as `https://shop.example`, or `"*"` for all. */
  readonly origins: "*" | readonly string[];
}

/** Every response header that a client reads and that browsers hide from pages by default. */
const EXPOSE: Headers = {
  "Access-Control-Expose-Headers":
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, " +
    "Retry-After, Link, Location, Date, Deprecation, Sunset, WWW-Authenticate, X-Request-Id, " +
    "Idempotent-Replayed",
};

/** The headers of the response to a preflight. `Max-Age` is in seconds; browsers limit it to a day or less. */
export const PREFLIGHT_HEADERS: Headers = Object.freeze({
  "Access-Control-Allow-Methods": ALLOWED_METHODS,
  "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
  "Access-Control-Max-Age": "86400",
});

/** Creates the function of a response's CORS headers (Fetch standard). It takes the request's `Origin` lines, if known. */
export function createCors({ origins }: CorsOptions) {
  const allowed = origins === "*" ? undefined : new Set(origins);
  return (lines: readonly string[] | undefined): Headers => {
    if (allowed === undefined) return { "Access-Control-Allow-Origin": "*", ...EXPOSE };
    // If one origin is allowed, a request that cannot be read may be its.
    const [origin = "", ...others] = lines ?? allowed;
    // Caches must keep the responses for different origins apart, also if the origin is not allowed.
    if (others.length > 0 || !allowed.has(origin)) return { Vary: "Origin", ...EXPOSE };
    return { "Access-Control-Allow-Origin": origin, Vary: "Origin", ...EXPOSE };
  };
}

/** Whether a request is a preflight, with which a browser asks whether it may send another request. */
export function isPreflight(request: HttpRequest): boolean {
  if (request.method !== "OPTIONS" || request.lines("origin").length === 0) return false;
  return request.lines("access-control-request-method").length > 0;
}
