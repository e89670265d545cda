import { INT64_MAX, INT64_MIN } from "@petstore/core";
import type { OpenAPIV3_1 } from "openapi-types";
import { headers, parameters, schemas } from "./components.js";
import { createPet, getPet, listPets } from "./operations.js";
import {
  commonHeaders,
  errorBody,
  withoutBodies,
  type Header,
  type JsonContent,
  type Responses,
} from "./responses.js";

/** The type of `openApiDocument`: an OpenAPI 3.1 document without the parts that it does not use. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<{
    title: string;
    version: string;
    summary: string;
    description: string;
    license: Readonly<{ name: string; identifier: string }>;
  }>;
  readonly servers: readonly Readonly<{ url: string; description: string }>[];
  readonly tags: readonly Readonly<{ name: string; description: string }>[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<{
    "/pets": Readonly<Record<"get" | "head" | "post", Operation>>;
    "/pets/{petId}": Readonly<Record<"get" | "head", Operation>>;
  }>;
  readonly components: Readonly<{
    securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
    parameters: Readonly<Record<string, object>>;
    headers: Readonly<Record<string, Header>>;
    responses: Responses;
    schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly Readonly<{ $ref: string }>[];
  readonly requestBody?: Readonly<{ description: string; required: boolean; content: JsonContent }>;
  readonly responses: Responses;
}

const description = `### Your API key

Every request carries an API key as a bearer token: \`Authorization: Bearer <API_KEY>\`. The operator of
the service issues it, and it is shown only once:

\`\`\`sh
petstore keys issue --plan free --label "my key"
\`\`\`

To send requests from a page that shows this document, press **Authorize** and paste the key.

### Limits

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
| free | 60 | 1,000 |
| pro | 300 | 10,000 |
| business | 1,000 | 100,000 |
| enterprise | custom | custom |

Every response says how many requests are left, in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\`. After a 429, wait for the number of seconds in \`Retry-After\`. A key that keeps
sending requests is banned for a while.

### Numbers

Ids are int64 and exact. Beyond 2^53, read and write them with a JSON library that does not round.
`;

/**
 * The HTTP interface of the store as an OpenAPI 3.1 document, deeply frozen. Its server is `/v1`. For a
 * store that is mounted elsewhere, copy it:
 * `{ ...openApiDocument, servers: [{ url: "/api/v1", description: "…" }] }`.
 *
 * Write it with `encodeOpenApiDocument`. `JSON.stringify` rounds the bounds of int64.
 */
export const openApiDocument: OpenApiDocument = deepFreeze({
  openapi: "3.1.0",
  info: {
    title: "Pet Store",
    version: "1.0.0",
    summary: "An inventory of pets: list them, create one, fetch one.",
    description,
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "/v1", description: "The server of this document" }],
  tags: [{ name: "pets", description: "The inventory, shared by all API keys" }],
  security: [{ apiKey: [] }],
  paths: {
    "/pets": {
      get: listPets,
      post: createPet,
      head: {
        ...listPets,
        operationId: "headPets",
        summary: "Fetch the headers of a page",
        description: "Responds with the headers of GET and no body.",
        responses: withoutBodies(listPets.responses),
      },
    },
    "/pets/{petId}": {
      get: getPet,
      head: {
        ...getPet,
        operationId: "headPet",
        summary: "Fetch the headers of a pet",
        description:
          "Responds with the headers of GET and no body. " +
          "**Deprecated: to be removed on 5 December 2030.**",
        responses: withoutBodies(getPet.responses),
      },
    },
  },
  components: {
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "pet_live_…",
        description:
          "Your API key: `pet_live_` and 36 letters and digits, issued by the operator of the service.",
      },
    },
    parameters,
    headers,
    // Responses to requests that match no operation: OpenAPI has no other place for them.
    responses: {
      not_found: {
        description: "Nothing is at this path.",
        headers: commonHeaders,
        content: errorBody(404, "not_found"),
      },
      method_not_allowed: {
        description: "The path does not support this method.",
        headers: { ...commonHeaders, Allow: { $ref: "#/components/headers/Allow" } },
        content: errorBody(405, "method_not_allowed"),
      },
    },
    schemas,
  },
} satisfies OpenAPIV3_1.Document);

/** Writes an OpenAPI document as JSON text, with the bounds of int64 exact to the last digit. */
export function encodeOpenApiDocument(document: OpenApiDocument): string {
  return JSON.stringify(document)
    .replaceAll(`:${String(Number(INT64_MIN))}`, `:${String(INT64_MIN)}`)
    .replaceAll(`:${String(Number(INT64_MAX))}`, `:${String(INT64_MAX)}`);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    const children: readonly unknown[] = Object.values(value);
    children.forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
