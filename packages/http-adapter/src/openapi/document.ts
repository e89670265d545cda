import { operations } from "@petstore/wire";
import type { OpenAPIV3_1 } from "openapi-types";
import { headers, schemas } from "./components.js";
import { createPet, getPet, listPets } from "./operations.js";
import { withoutBodies } from "./responses.js";

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

### Other requests

Another path gets 404 with the code \`not_found\`. Another method gets 405 with the code
\`method_not_allowed\` and the header \`Allow\`. Both have an Error body and the headers of every response.
`;

const document = {
  openapi: "3.1.0",
  info: {
    title: "Pet Store",
    version: "1.0.0",
    summary: "An inventory of pets: list them, create one, fetch one.",
    description,
    // A host that knows better sets its own; linters ask for one.
    contact: { name: "The operator of this service" },
    license: { name: "MIT", identifier: "MIT" },
  },
  // Relative to the document, so that it is right behind a proxy that strips a prefix.
  servers: [{ url: "v1", description: "The server of this document" }],
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
          `**Deprecated: to be removed on ${operations.getPet.deprecation.removal}.**`,
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
    headers,
    schemas,
  },
} satisfies OpenAPIV3_1.Document;

/** The type of `openApiDocument`: OpenAPI 3.1, deeply readonly. */
export type OpenApiDocument = Frozen<typeof document>;

type Frozen<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
  : Value;

/**
 * The HTTP interface of the store as an OpenAPI 3.1 document, deeply frozen. Its server is `v1`, beside the
 * document. For a store that is mounted elsewhere, copy it:
 * `{ ...openApiDocument, servers: [{ url: "/api/v1", description: "…" }] }`.
 */
export const openApiDocument: OpenApiDocument = deepFreeze(document);

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    const children: readonly unknown[] = Object.values(value);
    children.forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
