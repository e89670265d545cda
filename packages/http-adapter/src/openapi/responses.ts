import { engineErrors } from "@petstore/core/internal";
import * as errors from "../error.js";
import { statusOf, type ResponseError } from "../error.js";
import { ALLOWED_METHODS } from "../route.js";

/** Responses by status. */
export type Responses = Readonly<Record<string, Response>>;

/** A response (OpenAPI 3.1, "Response Object"). A response to HEAD has no content. */
export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, { $ref: string } | Header>>;
  readonly content?: JsonContent;
}

/** A header (OpenAPI 3.1, "Header Object"). */
type Header = Readonly<{ description: string; required: boolean; schema: object }>;

/** A JSON body. Not an interface, because that would not fit the types of openapi-types. */
type JsonContent = Readonly<{
  "application/json": { schema: object; examples: Readonly<Record<string, { value: unknown }>> };
}>;

type ErrorCode = ResponseError["code"];

/** One error of each code, as the store makes it. */
export const examples: { readonly [Code in ErrorCode]: { code: Code; message: string } } = {
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

/** The headers of every response (specification, "Rate limit headers"); three of them only if they are configured. */
const commonHeaders = {
  "X-RateLimit-Limit": { $ref: "#/components/headers/X-RateLimit-Limit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/X-RateLimit-Remaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/X-RateLimit-Reset" },
  "Cache-Control": { $ref: "#/components/headers/Cache-Control" },
  "X-Content-Type-Options": { $ref: "#/components/headers/X-Content-Type-Options" },
  "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimit-Policy" },
};

/** Errors in the HTTP message itself. The server may send them before it knows the operation. */
export const messageErrors: Responses = {
  "400": error("The request is not valid HTTP, or its body ended early.", {}, "bad_request"),
  "408": error("The request took too long to arrive.", {}, "request_timeout"),
  "431": error(
    "The request line and the header section together are too long.",
    {},
    "headers_too_large",
  ),
};

/** Errors of every operation. */
export const operationErrors: Responses = {
  "401": error(
    "No API key was sent, or it is malformed, unknown, revoked or expired.",
    { "WWW-Authenticate": { $ref: "#/components/headers/WWW-Authenticate" } },
    "missing_api_key",
    "invalid_api_key",
  ),
  "417": error(
    "The request expects something other than `100-continue`.",
    {},
    "expectation_failed",
  ),
  "429": error(
    "A limit of the plan is used up, or the API key is banned because it kept sending after that.",
    { "Retry-After": { $ref: "#/components/headers/Retry-After" } },
    "rate_limit_exceeded",
    "api_key_banned",
  ),
  "500": error("The service has a bug.", {}, "internal_error"),
  "503": error(
    "The storage failed, or the service is shutting down. Nothing was done, unless the message says that the change may have been stored.",
    { "Retry-After": { $ref: "#/components/headers/Retry-After" } },
    "storage_unavailable",
    "store_closed",
  ),
};

/** A successful response with a body of this schema. */
export function success(
  description: string,
  headers: Response["headers"],
  schema: "Pet" | "Pets",
  examples: Readonly<Record<string, unknown>>,
): Response {
  return responseOf(description, headers, { $ref: `#/components/schemas/${schema}` }, examples);
}

/** An error response: the `Error` schema, limited to these codes, which have one status. */
export function error(
  description: string,
  headers: Response["headers"],
  ...codes: readonly [ErrorCode, ...ErrorCode[]]
): Response {
  const status = statusOf(codes[0]);
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
  return responseOf(description, headers, { allOf }, Object.fromEntries(bodies));
}

function responseOf(
  description: string,
  headers: Response["headers"],
  schema: object,
  examples: Readonly<Record<string, unknown>>,
): Response {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return {
    description,
    headers: { ...commonHeaders, ...headers },
    content: { "application/json": { schema, examples: Object.fromEntries(named) } },
  };
}

/** The same responses with more headers. */
export function withHeaders(responses: Responses, headers: Response["headers"]): Responses {
  return mapResponses(responses, (each) => ({ ...each, headers: { ...each.headers, ...headers } }));
}

/** The responses to HEAD: the same headers and no body (RFC 9110, section 9.3.2). */
export function withoutBodies(responses: Responses): Responses {
  return mapResponses(responses, ({ description, headers }) => ({ description, headers }));
}

function mapResponses(responses: Responses, change: (response: Response) => Response): Responses {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, change(response)]),
  );
}
