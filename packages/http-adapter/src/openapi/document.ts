import { INT64_MAX, INT64_MIN, PAGE_LIMIT } from "@petstore/core";
import type { OpenAPIV3_1 } from "openapi-types";
import { headers, int64, schemas } from "./components.js";
import {
  error,
  messageErrors,
  operationErrors,
  success,
  withHeaders,
  withoutBodies,
} from "./responses.js";

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

const PET = { id: 1, name: "Rex", categoryId: 7, status: "available" };

const listPets = {
  operationId: "listPets",
  summary: "List pets",
  description: "Returns a page of pets in ascending order of id.",
  tags: ["pets"],
  parameters: [
    {
      name: "limit",
      in: "query",
      description: "The maximum number of pets on the page, in decimal digits.",
      required: false,
      schema: { type: "integer", ...PAGE_LIMIT },
    },
    {
      name: "status",
      in: "query",
      description: "Returns only pets with this status.",
      required: false,
      schema: { $ref: "#/components/schemas/PetStatus" },
    },
    {
      name: "after",
      in: "query",
      description:
        "Returns only pets with a greater id. The `Link` header of a page contains the value for the next page.",
      required: false,
      schema: { ...int64, description: "The last id of the page before." },
    },
  ],
  responses: {
    ...messageErrors,
    ...operationErrors,
    "200": success("A page of pets.", { Link: { $ref: "#/components/headers/NextPage" } }, "Pets", {
      some: [PET, { id: 2, name: "Tom", categoryId: 8, status: "sold" }],
      none: [],
    }),
    "400": error(
      "A query parameter is invalid, and the message names it; or the request is not valid HTTP.",
      {},
      "bad_request",
      "invalid_query",
    ),
  },
} satisfies OpenAPIV3_1.OperationObject;

const createPet = {
  operationId: "createPet",
  summary: "Create a pet",
  description: "Creates a new pet. A pet is stored durably before the server responds with 201.",
  tags: ["pets"],
  parameters: [
    {
      name: "Idempotency-Key",
      in: "header",
      // Without an `example`: the docs page would send it with each pet.
      description:
        "Makes the request safe to repeat: 1 to 255 visible ASCII characters, quoted (RFC 9651) or bare, and new " +
        'for each pet, such as `"8e03978e-40d5-43dd-bc93-6894a57f9324"`. ' +
        "A request with a key that was used before, with the same pet, gets the same response and " +
        "creates nothing. Keys are remembered for 24 hours unless the service is configured otherwise.",
      required: false,
      schema: { type: "string" },
    },
  ],
  requestBody: {
    description:
      "The pet, as JSON in UTF-8 of at most 65,536 bytes unless the service is configured otherwise.",
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/NewPet" },
        examples: {
          full: { value: { name: "Rex", categoryId: 7, status: "available" } },
          minimal: { value: { name: "Tom", categoryId: 8 } },
        },
      },
    },
  },
  responses: {
    ...messageErrors,
    ...operationErrors,
    "201": success(
      "The created pet.",
      {
        Location: { $ref: "#/components/headers/Location" },
        "Idempotent-Replayed": { $ref: "#/components/headers/Idempotent-Replayed" },
      },
      "Pet",
      { created: PET },
    ),
    "400": error(
      "A required field is missing or a value is invalid, and the message names each; or the body " +
        "is not JSON in UTF-8; or the Idempotency-Key is not a key; or the request is not valid HTTP.",
      {},
      "bad_request",
      "malformed_json",
      "invalid_idempotency_key",
      "invalid_pet",
    ),
    "422": error(
      "The Idempotency-Key was used before, for another pet. Nothing was created.",
      {},
      "idempotency_key_reused",
    ),
    "413": error("The body is longer than the server allows.", {}, "payload_too_large"),
    "415": error(
      "The body is not declared as JSON in UTF-8, or it is compressed.",
      {
        Accept: { $ref: "#/components/headers/Accept" },
        "Accept-Encoding": { $ref: "#/components/headers/Accept-Encoding" },
      },
      "unsupported_media_type",
    ),
  },
} satisfies OpenAPIV3_1.OperationObject;

const deprecation = {
  Deprecation: { $ref: "#/components/headers/Deprecation" },
  Sunset: { $ref: "#/components/headers/Sunset" },
  Link: { $ref: "#/components/headers/Successor" },
};

/** The same headers, on responses that may be sent before the operation is known. */
const deprecationIfKnown = {
  Deprecation: { ...headers.Deprecation, required: false },
  Sunset: { ...headers.Sunset, required: false },
  Link: { ...headers.Successor, required: false },
};

const getPet = {
  operationId: "getPet",
  summary: "Fetch a pet",
  description:
    "Returns the pet with this id. **Deprecated: to be removed on 5 December 2030.** " +
    "Use `GET /pets` with a `status` filter instead.",
  tags: ["pets"],
  deprecated: true,
  parameters: [
    {
      name: "petId",
      in: "path",
      description: "The id of the pet to return.",
      required: true,
      schema: { ...int64, description: "The id of a pet, in canonical decimal form." },
    },
  ],
  responses: {
    ...withHeaders(messageErrors, deprecationIfKnown),
    ...withHeaders(operationErrors, deprecation),
    "200": success("The pet.", deprecation, "Pet", { found: PET }),
    "404": error(
      "No pet has this id, or the id is not an int64 in canonical decimal form.",
      deprecation,
      "pet_not_found",
    ),
  },
} satisfies OpenAPIV3_1.OperationObject;

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
 * The HTTP interface of the store as an OpenAPI 3.1 document, deeply frozen. Its server is `/v1`. For a
 * store that is mounted elsewhere, copy it:
 * `{ ...openApiDocument, servers: [{ url: "/api/v1", description: "…" }] }`.
 *
 * Write it with `encodeOpenApiDocument`. `JSON.stringify` rounds the bounds of int64.
 */
export const openApiDocument: OpenApiDocument = deepFreeze(document);

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
