import { keysOf, type OperationName } from "@petstore/core/facts";
import { engineErrors } from "@petstore/core/internal";
import { operations, type OperationFacts } from "@petstore/wire";
import * as errors from "../error.js";
import { statusOf, type HttpErrorCode, type ResponseError } from "../error.js";
import { ALLOWED_METHODS, operationNames } from "../request/route.js";
import { deprecationHeaders } from "../response/render.js";
import type { headers } from "./headers.js";

export type Responses = Readonly<Record<string, Response>>;

/** A response (OpenAPI 3.1, "Response Object"). A response to HEAD has no content. */
export interface Response {
  readonly description: string;
  readonly headers: Headers;
  readonly content?: ReturnType<typeof contentOf>;
}

type Headers = Readonly<
  Record<string, { $ref: string } | { description: string; required: boolean; schema: object }>
>;

type ErrorCode = ResponseError["code"];

const examples: { readonly [Code in ErrorCode]: { code: Code; message: string } } = {
  bad_request: errors.badRequest("There is more than one Host header."),
  malformed_json: errors.malformedJson("The body is not valid JSON."),
  invalid_query: engineErrors.invalidQuery(["limit must be an integer from 1 to 100"]),
  invalid_pet: engineErrors.invalidPet(["categoryId must be an int64 integer"]),
  invalid_idempotency_key: engineErrors.invalidIdempotencyKey(),
  idempotency_key_reused: engineErrors.idempotencyKeyReused(),
  missing_api_key: engineErrors.missingApiKey(),
  invalid_api_key: engineErrors.invalidApiKey(),
  not_found: errors.notFound(),
  pet_not_found: engineErrors.petNotFound(),
  method_not_allowed: errors.methodNotAllowed(ALLOWED_METHODS),
  request_timeout: errors.requestTimeout(),
  payload_too_large: errors.payloadTooLarge(65_536),
  unsupported_media_type: errors.unsupportedMediaType(),
  expectation_failed: errors.expectationFailed(),
  headers_too_large: errors.headersTooLarge(),
  rate_limit_exceeded: engineErrors.rateLimitExceeded(60, "minute", 60),
  api_key_banned: engineErrors.apiKeyBanned(60),
  internal_error: errors.internalError(),
  storage_unavailable: engineErrors.storageUnavailable(undefined),
  store_closed: engineErrors.storeClosed(),
};

const occasions: Readonly<Record<ErrorCode, string>> = {
  bad_request: "The request is not valid HTTP, or its body ended early.",
  malformed_json: "The body is not JSON in UTF-8.",
  invalid_query: "A query parameter is invalid, and the message names it.",
  invalid_pet: "A required field is missing or a value is invalid, and the message names each.",
  invalid_idempotency_key: "The Idempotency-Key is not a key.",
  idempotency_key_reused:
    "The Idempotency-Key was used before, for another pet. Nothing was created.",
  missing_api_key: "No API key was sent.",
  invalid_api_key: "The API key is malformed, unknown, revoked or expired.",
  not_found: "Nothing is at this path.",
  pet_not_found: "No pet has this id, or the id is not an int64 in canonical decimal form.",
  method_not_allowed: "The path does not support this method.",
  request_timeout: "The request took too long to arrive.",
  payload_too_large: "The body is longer than the server allows.",
  unsupported_media_type: "The body is not declared as JSON in UTF-8, or it is compressed.",
  expectation_failed: "The request expects something other than `100-continue`.",
  headers_too_large: "The request line and the header section together are too long.",
  rate_limit_exceeded: "A limit of the plan is used up.",
  api_key_banned: "The API key is banned because it kept sending after a limit was used up.",
  internal_error: "The service has a bug.",
  storage_unavailable:
    "The storage failed. Nothing was done, unless the message says that the change may have been stored.",
  store_closed: "The service is shutting down. Nothing was done.",
};

type Place = "message" | "every operation" | "body" | "no operation";

/** Where each error of the adapter itself occurs; those of a message may be sent before the operation is known. */
const places: Readonly<Record<HttpErrorCode, Place>> = {
  bad_request: "message",
  malformed_json: "body",
  not_found: "no operation",
  method_not_allowed: "no operation",
  request_timeout: "message",
  payload_too_large: "body",
  unsupported_media_type: "body",
  expectation_failed: "every operation",
  headers_too_large: "message",
  internal_error: "every operation",
};
const placeOf = new Map<string, Place>(Object.entries(places));

export const errorCodes = keysOf(examples);

/** The headers of every response (specification, "Rate limit headers"); three of them only if they are configured. */
const commonHeaders = headersNamed(
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Cache-Control",
  "X-Content-Type-Options",
  "X-Request-Id",
  "RateLimit",
  "RateLimit-Policy",
);

const headersOfStatus: Readonly<Record<number, Headers>> = {
  401: headersNamed("WWW-Authenticate"),
  415: headersNamed("Accept", "Accept-Encoding"),
  429: headersNamed("Retry-After"),
  503: headersNamed("Retry-After"),
};

/** The responses of an operation: its success, with examples of its body if it has one, and every error that it may have. */
export function responsesOf(
  name: OperationName,
  description: string,
  ownHeaders: Headers,
  schema?: "Pet" | "Pets",
  pets: Readonly<Record<string, unknown>> = {},
): Responses {
  const facts: OperationFacts = operations[name];
  const headers = { ...commonHeaders, ...ownHeaders, ...deprecationOf(name, true) };
  const body = schema && { content: contentOf({ $ref: `#/components/schemas/${schema}` }, pets) };
  const codes = errorCodes.filter((code) => isErrorOf(facts, code));
  const failures = [...new Set(codes.map(statusOf))].map((status) => {
    const ofStatus = codes.filter((code) => statusOf(code) === status);
    return [status, errorResponse(name, status, ofStatus)] as const;
  });
  return Object.fromEntries([[facts.success, { description, headers, ...body }], ...failures]);
}

function isErrorOf({ method, errors }: OperationFacts, code: ErrorCode): boolean {
  const place = placeOf.get(code);
  if (place === "body") return method !== "GET" && method !== "DELETE";
  if (place !== undefined) return place !== "no operation";
  return code in errors || !operationNames.some((name) => code in operations[name].errors);
}

function errorResponse(name: OperationName, status: number, codes: readonly ErrorCode[]): Response {
  const allOf = [
    { $ref: "#/components/schemas/Error" },
    {
      type: "object",
      properties: {
        code: { type: "string", enum: codes },
        status: { type: "integer", enum: [status] },
      },
    },
  ];
  const bodies = codes.map((code) => {
    const { message } = examples[code];
    return [code, { code, message, status }] as const;
  });
  const deprecations = deprecationOf(name, !codes.some((code) => placeOf.get(code) === "message"));
  return {
    description: codes.map((code) => occasions[code]).join(" Or: "),
    headers: { ...commonHeaders, ...headersOfStatus[status], ...deprecations },
    content: contentOf({ allOf }, Object.fromEntries(bodies)),
  };
}

function deprecationOf(name: OperationName, required: boolean): Headers {
  const descriptions: Readonly<Record<string, string>> = {
    Deprecation: "When the operation was deprecated (RFC 9745).",
    Sunset: "When the operation will be removed (RFC 8594).",
    Link: "The replacement of the operation (RFC 5829).",
  };
  const named = Object.entries(deprecationHeaders(name)).map(([header, value]) => {
    const schema = { type: "string", enum: [value] };
    return [header, { description: descriptions[header] ?? "", required, schema }] as const;
  });
  return Object.fromEntries(named);
}

function contentOf(schema: object, examples: Readonly<Record<string, unknown>>) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return { "application/json": { schema, examples: Object.fromEntries(named) } };
}

export function headersNamed(...names: readonly (keyof typeof headers)[]): Headers {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}
