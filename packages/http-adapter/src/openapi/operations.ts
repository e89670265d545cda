import { PAGE_LIMIT, type ListPetsInput } from "@petstore/core";
import type { EachField } from "@petstore/core/internal";
import type { OpenAPIV3_1 } from "openapi-types";
import { operations } from "@petstore/wire";
import { EXACT, headers, int64 } from "./components.js";
import { error, messageErrors, operationErrors, success, withHeaders } from "./responses.js";

const PET = { id: 1, name: "Rex", categoryId: 7, status: "available" };

/** The parameters of `GET /pets`. */
const listParameters = {
  limit: {
    name: "limit",
    in: "query",
    description:
      "The maximum number of pets on the page, in decimal digits. A page of about 1 MiB ends earlier; if more pets follow, it has a `Link`.",
    required: false,
    schema: { type: "integer", ...PAGE_LIMIT },
  },
  status: {
    name: "status",
    in: "query",
    description: "Returns only pets with this status.",
    required: false,
    schema: { $ref: "#/components/schemas/PetStatus" },
  },
  after: {
    name: "after",
    in: "query",
    description: `Returns only pets with a greater id: the last one of the page before, as in its \`Link\`. ${EXACT}`,
    required: false,
    schema: int64,
  },
} satisfies EachField<Record<keyof ListPetsInput, OpenAPIV3_1.ParameterObject>>;

/** `GET /pets`. */
export const listPets = {
  operationId: "listPets",
  summary: "List pets",
  description: "Returns a page of pets in ascending order of id.",
  tags: ["pets"],
  parameters: Object.values(listParameters),
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
      "invalid_query",
      "bad_request",
    ),
  },
} satisfies OpenAPIV3_1.OperationObject;

/** `POST /pets`. */
export const createPet = {
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
      // Each character may be escaped, and the quotes come on top.
      schema: { type: "string", minLength: 1, maxLength: 512, pattern: "^[!-~]+$" },
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
      "invalid_pet",
      "malformed_json",
      "invalid_idempotency_key",
      "bad_request",
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

/** `GET /pets/{petId}`. */
export const getPet = {
  operationId: "getPet",
  summary: "Fetch a pet",
  description:
    `Returns the pet with this id. **Deprecated: to be removed on ${operations.getPet.deprecation.removal}.** ` +
    "Use `GET /pets` instead: with a `status` filter, or for one pet with `limit=1` and its id − 1 as `after`.",
  tags: ["pets"],
  deprecated: true,
  parameters: [
    {
      name: "petId",
      in: "path",
      description: `The id of the pet to return, in canonical decimal form. ${EXACT}`,
      required: true,
      schema: int64,
      example: 1,
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
