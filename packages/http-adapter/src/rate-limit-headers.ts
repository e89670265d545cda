import type { Clock, Quota, WindowQuota } from "@petstore/core";
import type { Headers } from "./http-message.js";

/** The version of the IETF draft "RateLimit header fields for HTTP" whose fields can be sent as well. */
export type RateLimitFields = "draft-11";

/** Returns the headers that say what a caller has left. */
export type RateLimitHeaders = (quota: Quota) => Headers;

/**
 * Creates the headers of every response (specification, "Rate limit headers"): those of the window that
 * binds and, if asked for, the fields of the draft with both windows. The clock is the store's.
 */
export function createRateLimitHeaders(
  fields: RateLimitFields | undefined,
  clock: Clock,
): RateLimitHeaders {
  if (fields === undefined) return bindingHeaders;
  return (quota) => ({ ...bindingHeaders(quota), ...draftFields(quota, clock.now()) });
}

function bindingHeaders({ limit, remaining, resetAt }: Quota): Headers {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(Math.ceil(resetAt / 1_000)),
  };
}

/** draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4. */
function draftFields({ minute, day }: Quota, now: number): Headers {
  return {
    "RateLimit-Policy": `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`,
    RateLimit: `"minute"${leftIn(minute, now)}, "day"${leftIn(day, now)}`,
  };
}

function leftIn({ remaining, resetAt }: WindowQuota, now: number): string {
  return `;r=${remaining};t=${Math.max(0, Math.ceil((resetAt - now) / 1_000))}`;
}
