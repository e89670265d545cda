import type { Pet, Quota, WithQuota } from "@petstore/core";
import { match, P } from "ts-pattern";
import type { HttpResponse } from "./http-message.js";
import { encodeError, encodePets } from "./json/encode.js";
import { statusOf, type Failure } from "./status.js";

/** Headers: names and values in turn. */
export type Fields = readonly string[];

/** No headers. */
export const NO_FIELDS: Fields = Object.freeze([]);

/** A body ready to be sent, with its Content-Length. */
export interface RenderedBody {
  readonly text: string;
  readonly length: string;
}

/** JSON text, ready to be sent. */
export function renderBody(text: string): RenderedBody {
  return { text, length: String(Buffer.byteLength(text)) };
}

/**
 * Renders pages of animals, each once: a storage may answer the same frozen page for as long as
 * nothing changes.
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

/** An Error body (specification, "Errors") and the headers that it calls for. */
export function renderError(failure: WithQuota<Failure>, fields: Fields): HttpResponse {
  const { code, message, quota } = failure;
  const status = statusOf(code);
  const body = renderBody(encodeError({ code, message, status }));
  return render({ status, body, quota, fields: fieldsOf(failure) }, fields);
}

/** What an answer says. */
export interface Content {
  readonly status: number;
  readonly body: RenderedBody;
  readonly quota: Quota;
  readonly fields: Fields;
}

/** Any answer, with the headers that each carries (specification, "Rate limit headers"). */
export function render({ status, body, quota, fields }: Content, more: Fields): HttpResponse {
  const headers = [
    "Content-Type",
    "application/json",
    "Content-Length",
    body.length,
    "Cache-Control",
    "no-store",
    "X-Content-Type-Options",
    "nosniff",
    "X-RateLimit-Limit",
    String(quota.limit),
    "X-RateLimit-Remaining",
    String(quota.remaining),
    "X-RateLimit-Reset",
    String(Math.ceil(quota.resetAt / 1_000)),
  ];
  for (const field of fields) headers.push(field);
  for (const field of more) headers.push(field);
  return { status, headers, body: body.text };
}

/** The same answer as one to HEAD: every header, no body (RFC 9110, section 9.3.2). */
export function renderHead(response: HttpResponse): HttpResponse {
  return { ...response, body: "" };
}

function fieldsOf(failure: Failure): Fields {
  return match(failure)
    .with({ code: "missing_api_key" }, () => ["WWW-Authenticate", CHALLENGE])
    .with({ code: "invalid_api_key" }, () => [
      "WWW-Authenticate",
      `${CHALLENGE}, error="invalid_token"`,
    ])
    .with({ code: P.union("rate_limit_exceeded", "api_key_banned") }, ({ retryAfterSeconds }) => [
      "Retry-After",
      String(retryAfterSeconds),
    ])
    .with({ code: P.union("storage_unavailable", "store_closed") }, () => ["Retry-After", "1"])
    .with({ code: "method_not_allowed" }, ({ allow }) => ["Allow", allow])
    .with({ code: "unsupported_media_type" }, ({ wanted }) => [...wanted])
    .otherwise(() => []);
}

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="petstore"';
