import { operations, type OperationFacts, type OperationName } from "@petstore/core/facts";
import { errorCodes, errors, statusOf, type ErrorCode } from "../error.js";
import { operationNames } from "../request/route.js";
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

function isErrorOf({ method, errors: own }: OperationFacts, code: ErrorCode): boolean {
  const { place } = errors[code];
  if (place === "body") return method !== "GET" && method !== "DELETE";
  if (place !== undefined) return place !== "no operation";
  return code in own || !operationNames.some((name) => code in operations[name].errors);
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
    const { message } = errors[code].example;
    return [code, { code, message, status }] as const;
  });
  const occasions = codes.map((code) => errors[code].occasion ?? errors[code].example.message);
  const deprecations = deprecationOf(name, !codes.some((code) => errors[code].place === "message"));
  return {
    description: occasions.join(" Or: "),
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
