import type { Clock, Pet, Quota } from "@petstore/core";
import { windowNames, windows, type WindowQuota, type WindowName } from "@petstore/core/internal";
import { PREFLIGHT_HEADERS } from "./cors.js";
import { statusOf, type ResponseError } from "./error.js";
import type { Headers, HttpResponse } from "./http-message.js";
import { encodeError, encodePets } from "./json.js";

/**
 * The headers of every response of getPet (specification, "Versioning", rule 3): deprecated since
 * 5 December 2025 (RFC 9745), to be removed on 5 December 2030 (RFC 8594), replaced by the list
 * (RFC 5829), which is one level up wherever the store is mounted.
 */
export const GET_PET_DEPRECATION = Object.freeze({
  Deprecation: "@1764892800",
  Sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  Link: '<../pets>; rel="successor-version"',
});

/** A body and its Content-Length. */
export interface RenderedBody {
  readonly content: HttpResponse["body"];
  readonly length: string;
}

/** Of a text up to this length, Node makes one chunk with the headers, which costs less than its copy. */
const SHORT_TEXT = 16_384;

/** Adds the Content-Length to JSON text. A long text is encoded once, however many responses share it. */
export function renderBody(text: string): RenderedBody {
  const content = text.length > SHORT_TEXT ? Buffer.from(text) : text;
  return { content, length: String(Buffer.byteLength(content)) };
}

/**
 * Creates a function that renders pages of pets and remembers the body of each frozen page, because a
 * storage may return the same frozen page until something changes.
 */
export function createPageRenderer(): (pets: readonly Pet[]) => RenderedBody {
  const rendered = new WeakMap<readonly Pet[], RenderedBody>();
  return (pets) => {
    const known = rendered.get(pets);
    if (known !== undefined) return known;
    const body = renderBody(encodePets(pets));
    if (Object.isFrozen(pets)) rendered.set(pets, body);
    return body;
  };
}

/** The headers of every response. */
const ALWAYS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };

/** Renders a response. It has the headers of every response, those of the rate limit, and its own. */
export function render(
  status: number,
  body: RenderedBody,
  rateLimit: Headers,
  headers: Headers,
): HttpResponse {
  return {
    status,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": body.length,
      ...ALWAYS,
      ...rateLimit,
      ...headers,
    },
    body: body.content,
  };
}

/** Renders the response to a preflight. */
export function renderPreflight(rateLimit: Headers): HttpResponse {
  return { status: 204, headers: { ...ALWAYS, ...rateLimit, ...PREFLIGHT_HEADERS }, body: "" };
}

/** Renders an Error (specification, "Errors") with the headers of its code and of its operation. */
export function renderError(
  failure: ResponseError,
  rateLimit: Headers,
  headers: Headers = {},
): HttpResponse {
  const { code, message } = failure;
  const status = statusOf(code);
  const body = renderBody(encodeError({ code, message, status }));
  return render(status, body, rateLimit, { ...headersOf(failure), ...headers });
}

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="petstore"';

function headersOf(failure: ResponseError): Headers {
  switch (failure.code) {
    case "missing_api_key":
      return { "WWW-Authenticate": CHALLENGE };
    case "invalid_api_key":
      return { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` };
    case "rate_limit_exceeded":
    case "api_key_banned":
      return { "Retry-After": String(failure.retryAfterSeconds) };
    case "storage_unavailable":
    case "store_closed":
      return { "Retry-After": "1" };
    case "method_not_allowed":
      return { Allow: failure.allow };
    case "unsupported_media_type":
      return failure.accept;
    case "bad_request":
    case "expectation_failed":
    case "headers_too_large":
    case "idempotency_key_reused":
    case "internal_error":
    case "invalid_idempotency_key":
    case "invalid_pet":
    case "invalid_query":
    case "malformed_json":
    case "not_found":
    case "payload_too_large":
    case "pet_not_found":
    case "request_timeout":
      return {};
  }
}

/** The version of the IETF draft "RateLimit header fields for HTTP" whose fields can be sent as well. */
export type RateLimitFields = "draft-11";

/** Returns the headers with the quota of a caller. */
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

/** RFC 9651, section 3.3.1. With a larger limit, the fields are left out. */
const LARGEST_INTEGER = 999_999_999_999_999;

/** draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4. */
function draftFields(quota: Quota, now: number): Headers {
  if (windowNames.some((name) => quota[name].limit > LARGEST_INTEGER)) return {};
  const list = (member: (name: WindowName) => string) =>
    windowNames.map((name) => `"${name}"${member(name)}`).join(", ");
  return {
    "RateLimit-Policy": list(
      (name) => `;q=${quota[name].limit};w=${windows[name].milliseconds / 1_000}`,
    ),
    RateLimit: list((name) => leftIn(quota[name], now)),
  };
}

function leftIn({ remaining, resetAt }: WindowQuota, now: number): string {
  return `;r=${remaining};t=${Math.max(0, Math.ceil((resetAt - now) / 1_000))}`;
}
