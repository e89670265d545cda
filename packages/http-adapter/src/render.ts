import type { Clock, Pet, Quota } from "@petstore/core";
import {
  windowNames,
  windows,
  type OperationName,
  type WindowName,
  type WindowQuota,
} from "@petstore/core/facts";
import { encodePets, operations, type OperationFacts } from "@petstore/wire";
import { match, P } from "ts-pattern";
import { PREFLIGHT_HEADERS } from "./cors.js";
import { statusOf, type ResponseError } from "./error.js";
import type { Headers, HttpResponse } from "./http-message.js";
import { encodeError } from "./json.js";

/**
 * Returns the headers of every response of a deprecated operation (specification, "Versioning", rule 3): since when
 * (RFC 9745), when it will be removed (RFC 8594), and by what it is replaced (RFC 5829), relative to the request, so that
 * it is right wherever the store is mounted. No headers for other operations.
 */
export function deprecationHeaders(operation: OperationName | undefined): Headers {
  return operation === undefined ? {} : deprecations[operation];
}

const deprecations = {
  listPets: deprecationOf(operations.listPets),
  createPet: deprecationOf(operations.createPet),
  getPet: deprecationOf(operations.getPet),
} satisfies Readonly<Record<OperationName, Headers>>;

function deprecationOf({ deprecation }: OperationFacts): Headers {
  if (deprecation === undefined) return {};
  const { since, removal, successor } = deprecation;
  return Object.freeze({
    Deprecation: `@${startOf(since) / 1_000}`,
    Sunset: new Date(startOf(removal)).toUTCString(),
    Link: `<${successor}>; rel="successor-version"`,
  });
}

/** Returns the start of a day in UTC. */
function startOf(day: string): number {
  return Date.parse(`${day} UTC`);
}

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
  return match(failure)
    .returnType<Headers>()
    .with({ code: "missing_api_key" }, () => ({ "WWW-Authenticate": CHALLENGE }))
    .with({ code: "invalid_api_key" }, () => ({
      "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"`,
    }))
    .with({ code: P.union("rate_limit_exceeded", "api_key_banned") }, ({ retryAfterSeconds }) => ({
      "Retry-After": String(retryAfterSeconds),
    }))
    .with({ code: P.union("storage_unavailable", "store_closed") }, () => ({ "Retry-After": "1" }))
    .with({ code: "method_not_allowed" }, ({ allow }) => ({ Allow: allow }))
    .with({ code: "unsupported_media_type" }, ({ accept }) => accept)
    .with({ code: P.union("bad_request", "malformed_json", "invalid_query", "invalid_pet") }, none)
    .with({ code: P.union("invalid_idempotency_key", "idempotency_key_reused") }, none)
    .with({ code: P.union("not_found", "pet_not_found", "request_timeout") }, none)
    .with({ code: P.union("payload_too_large", "headers_too_large") }, none)
    .with({ code: P.union("expectation_failed", "internal_error") }, none)
    .exhaustive();
}

function none(): Headers {
  return {};
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
