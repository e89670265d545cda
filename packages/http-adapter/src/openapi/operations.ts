import type { OpenAPIV3_1 } from "openapi-types";
import { headers } from "./components.js";
import {
  commonHeaders,
  errorBody,
  messageErrors,
  operationErrors,
  withHeaders,
  type Responses,
} from "./responses.js";

export const listPets = {
  operationId: "listPets",
  summary: "List pets",
  description: "Returns a page of pets in ascending order of id.",
  tags: ["pets"],
  parameters: [
    { $ref: "#/components/parameters/limit" },
    { $ref: "#/components/parameters/status" },
    { $ref: "#/components/parameters/after" },
  ],
  responses: {
    ...messageErrors,
    ...operationErrors,
    "200": {
      description: "A page of pets.",
      headers: { ...commonHeaders, Link: { $ref: "#/components/headers/NextPage" } },
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Pets" },
          examples: {
            some: {
              value: [
                { id: 1, name: "Rex", categoryId: 7, status: "available" },
                { id: 2, name: "Tom", categoryId: 8, status: "sold" },
              ],
            },
            none: { value: [] },
          },
        },
      },
    },
    "400": {
      description:
        "A query parameter is invalid, and the message names it; or the request is not valid HTTP.",
      headers: commonHeaders,
      content: errorBody(400, "bad_request", "invalid_query"),
    },
  } satisfies Responses,
} satisfies OpenAPIV3_1.OperationObject;

export const createPet = {
  operationId: "createPet",
  summary: "Create a pet",
  description: "Creates a new pet. A pet is stored durably before the server responds with 201.",
  tags: ["pets"],
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
    "201": {
      description: "The created pet.",
      headers: { ...commonHeaders, Location: { $ref: "#/components/headers/Location" } },
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Pet" },
          examples: {
            created: { value: { id: 1, name: "Rex", categoryId: 7, status: "available" } },
          },
        },
      },
    },
    "400": {
      description:
        "A required field is missing or a value is invalid, and the message names each; or the body " +
        "is not JSON in UTF-8; or the request is not valid HTTP.",
      headers: commonHeaders,
      content: errorBody(400, "bad_request", "malformed_json", "invalid_pet"),
    },
    "413": {
      description: "The body is longer than the server allows.",
      headers: commonHeaders,
      content: errorBody(413, "payload_too_large"),
    },
    "415": {
      description: "The body is not declared as JSON in UTF-8, or it is compressed.",
      headers: {
        ...commonHeaders,
        Accept: { $ref: "#/components/headers/Accept" },
        "Accept-Encoding": { $ref: "#/components/headers/Accept-Encoding" },
      },
      content: errorBody(415, "unsupported_media_type"),
    },
  } satisfies Responses,
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

export const getPet = {
  operationId: "getPet",
  summary: "Fetch a pet",
  description:
    "Returns the pet with this id. **Deprecated: to be removed on 5 December 2030.** " +
    "Use `GET /pets` with a `status` filter instead.",
  tags: ["pets"],
  deprecated: true,
  parameters: [{ $ref: "#/components/parameters/petId" }],
  responses: {
    ...withHeaders(messageErrors, deprecationIfKnown),
    ...withHeaders(operationErrors, deprecation),
    "200": {
      description: "The pet.",
      headers: { ...commonHeaders, ...deprecation },
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Pet" },
          examples: {
            found: { value: { id: 1, name: "Rex", categoryId: 7, status: "available" } },
          },
        },
      },
    },
    "404": {
      description: "No pet has this id, or the id is not an int64 in canonical decimal form.",
      headers: { ...commonHeaders, ...deprecation },
      content: errorBody(404, "pet_not_found"),
    },
  } satisfies Responses,
} satisfies OpenAPIV3_1.OperationObject;
