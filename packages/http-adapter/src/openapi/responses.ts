import { statusOf } from "../status.js";
import type { Content, Json, Response, Responses, Schema } from "./document.js";
import { codesByStatus, errorMeanings, type ErrorCode, type OperationName } from "./error-codes.js";
import { HEADERS_OF_ALL, headerReferences, optionalHeaders, type HeaderName } from "./headers.js";
import { errorSchema } from "./schemas.js";

/** A body as JSON, with an example of each kind. */
export function json(schema: Schema, examples: Readonly<Record<string, Json>>): Content {
  return {
    "application/json": {
      schema,
      examples: Object.fromEntries(
        Object.entries(examples).map(([name, value]) => [name, { value }]),
      ),
    },
  };
}

/** An answer, with the headers that every answer carries and its own. */
export function response(
  description: string,
  content: Content,
  ...headers: readonly HeaderName[]
): Response {
  return { description, headers: headerReferences([...HEADERS_OF_ALL, ...headers]), content };
}

/** Every error that an operation answers, by status, with headers that all of them carry. */
export function errorResponses(
  operation: OperationName,
  ...headers: readonly HeaderName[]
): Responses {
  return Object.fromEntries(
    [...codesByStatus(operation)].map(([status, codes]) => [
      String(status),
      errorResponse(status, codes, headers),
    ]),
  );
}

/** The errors that are answered to no operation, by code. */
export function responsesElsewhere(): Readonly<Partial<Record<ErrorCode, Response>>> {
  return Object.fromEntries(
    [...codesByStatus(undefined).values()]
      .flat()
      .map((code) => [code, errorResponse(statusOf(code), [code], [])]),
  );
}

/** The same answers as those to HEAD: every header, no body (RFC 9110, section 9.3.2). */
export function withoutBodies(responses: Responses): Responses {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, headers }]) => [
      status,
      { description, headers },
    ]),
  );
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  headers: readonly HeaderName[],
): Response {
  const examples = Object.fromEntries<Json>(
    codes.map((code) => [code, { code, message: errorMeanings[code].message, status }]),
  );
  const isOperationKnown = codes.some((code) => errorMeanings[code].from !== "message");
  const answer = response(
    codes.map((code) => errorMeanings[code].when).join(" "),
    json(errorSchema(status, codes), examples),
    ...headersOfStatus(status),
    ...(isOperationKnown ? headers : []),
  );
  if (isOperationKnown) return answer;
  return { ...answer, headers: { ...answer.headers, ...optionalHeaders(headers) } };
}

function headersOfStatus(status: number): readonly HeaderName[] {
  switch (status) {
    case 401:
      return ["WWW-Authenticate"];
    case 405:
      return ["Allow"];
    case 415:
      return ["Accept", "Accept-Encoding"];
    case 429:
    case 503:
      return ["Retry-After"];
    default:
      return [];
  }
}
