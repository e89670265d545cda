import { petStatuses, type NewPetInput, type Pet } from "@petstore/core";
import { LONGEST_NAME, type EachField } from "@petstore/core/internal";
import type { OpenAPIV3_1 } from "openapi-types";
import { statusOf } from "../error.js";
import { deprecationHeaders } from "../render.js";
import { examples } from "./responses.js";

/** A JSON number, exact. The bounds are those of the format: written out, JavaScript's tools would round them. */
export const int64 = { type: "integer", format: "int64" } as const;

const GET_PET = deprecationHeaders("getPet");

/** For the description of each int64. */
export const EXACT =
  "An int64: beyond 2^53, JavaScript needs a JSON parser that is exact, such as `lossless-json` or `json-bigint`.";

type Property = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

const count = { type: "integer", minimum: 0 } as const;

/** Two of these are sent under the name `Link`. */
export const headers = {
  "X-RateLimit-Limit": {
    description:
      "The limit that applies to the API key: per minute or per day, whichever has fewer requests left.",
    required: true,
    schema: count,
    example: 60,
  },
  "X-RateLimit-Remaining": {
    description: "The requests left in the current window.",
    required: true,
    schema: count,
    example: 59,
  },
  "X-RateLimit-Reset": {
    description: "The Unix timestamp, in seconds, at which the limit resets.",
    required: true,
    schema: count,
    example: 1893456060,
  },
  "Cache-Control": {
    description: "Responses depend on the API key and must not be stored.",
    required: true,
    schema: { type: "string", enum: ["no-store"] },
  },
  "X-Content-Type-Options": {
    description: "The media type must not be guessed from the body.",
    required: true,
    schema: { type: "string", enum: ["nosniff"] },
  },
  "Retry-After": {
    description:
      "The seconds to wait. A client that waits exactly this long after a 429 is served.",
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: 60,
  },
  "WWW-Authenticate": {
    description: "How to authenticate (RFC 6750, section 3).",
    required: true,
    schema: {
      type: "string",
      enum: ['Bearer realm="petstore"', 'Bearer realm="petstore", error="invalid_token"'],
    },
  },
  Accept: {
    description: "The supported media type, if the media type was the problem.",
    required: false,
    schema: { type: "string", enum: ["application/json"] },
  },
  "Accept-Encoding": {
    description: "The supported content coding, if the content coding was the problem.",
    required: false,
    schema: { type: "string", enum: ["identity"] },
  },
  Location: {
    description: "The path of the new pet.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
    example: "/v1/pets/1",
  },
  "Idempotent-Replayed": {
    description: "Sent if an earlier request with the same Idempotency-Key created the pet.",
    required: false,
    schema: { type: "string", enum: ["true"] },
  },
  NextPage: {
    description:
      "The next page, if there is one (RFC 8288), as a reference relative to the URL of the request.",
    required: false,
    schema: { type: "string", pattern: '^<\\?[^>]*after=-?\\d+>; rel="next"$' },
    example: '<?limit=2&after=2>; rel="next"',
  },
  Deprecation: {
    description: "When the operation was deprecated (RFC 9745).",
    required: true,
    schema: { type: "string", enum: [GET_PET["Deprecation"]] },
  },
  Sunset: {
    description: "When the operation will be removed (RFC 8594).",
    required: true,
    schema: { type: "string", enum: [GET_PET["Sunset"]] },
  },
  Successor: {
    description: "The replacement of the operation (RFC 5829).",
    required: true,
    schema: { type: "string", enum: [GET_PET["Link"]] },
  },
  "X-Request-Id": {
    description:
      "The id of the request in the log of the service, or the one that the client sent.",
    required: false,
    schema: { type: "string" },
    example: "0b6a7d1e-5c0f-4d7e-9a58-6f1f0d3b2c4a",
  },
  RateLimit: {
    description:
      "Both limits, if the service is configured so (draft-ietf-httpapi-ratelimit-headers-11).",
    required: false,
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description:
      "The plan's windows, if the service is configured so (draft-ietf-httpapi-ratelimit-headers-11).",
    required: false,
    schema: { type: "string" },
  },
} satisfies Record<string, OpenAPIV3_1.HeaderObject>;

/** The schemas of the specification ("Resources and their fields"). */
export const schemas = {
  PetStatus: {
    type: "string",
    description: "The availability of the pet.",
    enum: [...petStatuses],
  },
  NewPet: {
    type: "object",
    description: "A pet to create. Other fields, including `id`, are ignored.",
    required: ["name", "categoryId"],
    properties: {
      name: {
        type: "string",
        description: `The pet's name: text without U+0000, at most ${LONGEST_NAME} bytes long in UTF-8.`,
        maxLength: LONGEST_NAME,
      },
      categoryId: { ...int64, description: `The id of the pet's category. ${EXACT}` },
      // Without `default`: type generators make a property with one required.
      status: {
        $ref: "#/components/schemas/PetStatus",
        description: "The availability of the pet; `available` if it is left out.",
      },
    } satisfies EachField<Record<keyof NewPetInput, Property>>,
  },
  Pet: {
    type: "object",
    description: "A pet of the inventory.",
    required: ["id", "name", "categoryId", "status"],
    properties: {
      id: {
        ...int64,
        description: `The pet's unique id, assigned when the pet is created. ${EXACT}`,
      },
      name: { type: "string", description: "The pet's name: text without U+0000." },
      categoryId: { ...int64, description: `The id of the pet's category. ${EXACT}` },
      status: { $ref: "#/components/schemas/PetStatus" },
    } satisfies EachField<Record<keyof Pet, Property>>,
  },
  Pets: {
    type: "array",
    description: "Pets in ascending order of id.",
    items: { $ref: "#/components/schemas/Pet" },
  },
  Error: {
    type: "object",
    description: "Why the request failed.",
    required: ["code", "message", "status"],
    properties: {
      code: {
        type: "string",
        description: "The error code, for programs.",
        enum: Object.keys(examples),
      },
      message: { type: "string", description: "A description of the error, for people." },
      status: {
        type: "integer",
        description: "The HTTP status code of the response.",
        enum: [...new Set(Object.values(examples).map(({ code }) => statusOf(code)))].sort(),
      },
    },
  },
} satisfies Record<string, OpenAPIV3_1.SchemaObject>;
