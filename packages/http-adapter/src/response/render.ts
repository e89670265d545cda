import type { Clock, Pet, Quota, WithQuota } from "@petstore/core";
import { operations, windowNames, windows } from "@petstore/core/facts";
import type { OperationFacts, OperationName } from "@petstore/core/facts";
import { encodePet as encode, encodePets } from "@petstore/wire";
import { match, P } from "ts-pattern";
import { statusOf, type ResponseError } from "../error.js";
import type { Headers, HttpResponse } from "../http-message.js";
import { operationNames } from "../request/route.js";

/**
 * Returns the headers of every response of a deprecated operation (specification, "Versioning", rule 3; RFC 9745, 8594
 * and 5829). The link is relative to the request, so that it is right wherever the store is mounted.
 */
export function deprecationHeaders(operation: OperationName | undefined): Headers {
  return (operation && deprecations.get(operation)) ?? {};
}

const deprecations = new Map(operationNames.map((name) => [name, deprecationOf(operations[name])]));

function deprecationOf({ deprecation }: OperationFacts): Headers {
  if (deprecation === undefined) return {};
  const { since, removal, successor } = deprecation;
  const startOf = (day: string): number => Date.parse(`${day} UTC`);
  return {
    Deprecation: `@${startOf(since) / 1_000}`,
    Sunset: new Date(startOf(removal)).toUTCString(),
    Link: `<${successor}>; rel="successor-version"`,
  };
}

type RenderedBody = ReturnType<typeof renderBody>;

/** Of a text up to this length, Node makes one chunk with the headers, which costs less than its copy. */
const SHORT_TEXT = 16_384;

/** Encodes a long text once, however many responses share it. */
function renderBody(text: string) {
  const content: HttpResponse["body"] = text.length > SHORT_TEXT ? Buffer.from(text) : text;
  return { content, length: String(Buffer.byteLength(content)) };
}

/** Returns the JSON text of a pet (specification, "Pet"); its int64s are exact JSON numbers. */
export const encodePet: (pet: Pet) => string = encode;

export const renderPet = (pet: Pet): RenderedBody => renderBody(encode(pet));

/** Creates a function that renders pages of pets. A storage may return the same frozen page until something changes. */
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

export type Render = ReturnType<typeof createRender>;

/**
 * Creates the function that renders a response with the headers of a quota (specification, "Rate limit headers"): those
 * of the window that binds and, if asked for, the fields of the draft with each window that the plan limits. The clock is
 * the store's. Without a body, there is no Content-Length: a 204 must not have one (RFC 9110, section 8.6).
 */
export function createRender(hasDraftFields: boolean, clock: Clock) {
  return (
    status: number,
    body: RenderedBody | undefined,
    quota: Quota,
    headers?: Headers,
  ): HttpResponse => {
    // The literal comes first: after a spread, Node 20 takes 40 µs longer for the headers.
    const all: Record<string, string> = {
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(quota.limit),
      "X-RateLimit-Remaining": String(quota.remaining),
      "X-RateLimit-Reset": String(Math.ceil(quota.resetAt / 1_000)),
    };
    if (hasDraftFields) Object.assign(all, draftFields(quota, clock.now()));
    Object.assign(all, headers);
    if (body === undefined) return { status, headers: all, body: "" };
    all["Content-Type"] = "application/json";
    all["Content-Length"] = body.length;
    return { status, headers: all, body: body.content };
  };
}

/** Renders an Error (specification, "Errors") with the headers of its code. */
export function renderError(failure: WithQuota<ResponseError>, render: Render): HttpResponse {
  const { code, message, quota } = failure;
  const status = statusOf(code);
  const body = renderBody(JSON.stringify({ code, message, status }));
  return render(status, body, quota, headersOf(failure, status));
}

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="petstore"';

function headersOf(failure: ResponseError, status: number): Headers {
  return match<ResponseError, Headers>(failure)
    .with({ headers: P.nonNullable }, ({ headers }) => headers)
    .with({ retryAfterSeconds: P.number }, (error) => ({
      "Retry-After": String(error.retryAfterSeconds),
    }))
    .with({ code: "missing_api_key" }, () => ({ "WWW-Authenticate": CHALLENGE }))
    .otherwise(() => HEADERS_OF_STATUS[status] ?? {});
}

const HEADERS_OF_STATUS: Readonly<Record<number, Headers>> = {
  401: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
  503: { "Retry-After": "1" },
};

/** RFC 9651, section 3.3.1. With a larger limit, the fields are left out. */
const LARGEST_INTEGER = 999_999_999_999_999;

/** draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4. */
function draftFields(quota: Partial<Quota>, now: number): Headers {
  const [policies, states]: [string[], string[]] = [[], []];
  for (const name of windowNames) {
    const window = quota[name];
    if (window === undefined) continue;
    const { limit, remaining, resetAt } = window;
    if (limit > LARGEST_INTEGER) return {};
    const seconds = Math.max(0, Math.ceil((resetAt - now) / 1_000));
    policies.push(`"${name}";q=${limit};w=${windows[name].milliseconds / 1_000}`);
    states.push(`"${name}";r=${remaining};t=${seconds}`);
  }
  return { "RateLimit-Policy": policies.join(", "), RateLimit: states.join(", ") };
}
