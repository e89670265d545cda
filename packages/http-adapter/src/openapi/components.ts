import { petStatuses, type NewPetInput, type Pet } from "@petstore/core";
import { windowNames } from "@petstore/core/facts";
import { LONGEST_NAME } from "@petstore/core/internal";
import type { OpenAPIV3_1 } from "openapi-types";
import { errorCodes, statusOf } from "../error.js";

/** A JSON number, exact. The bounds are those of the format: written out, JavaScript's tools would round them. */
export const int64 = { type: "integer", format: "int64" } as const;

export const EXACT =
  "An int64: beyond 2^53, JavaScript needs a JSON parser that is exact, such as `lossless-json` or `json-bigint`.";

type Property = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

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
    } satisfies Record<keyof NewPetInput, Property>,
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
    } satisfies Record<keyof Pet, Property>,
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
      code: { type: "string", description: "The error code, for programs.", enum: errorCodes },
      message: { type: "string", description: "A description of the error, for people." },
      status: {
        type: "integer",
        description: "The HTTP status code of the response.",
        enum: [...new Set(errorCodes.map(statusOf))].sort(),
      },
    },
  },
} satisfies Record<string, OpenAPIV3_1.SchemaObject>;

const DRAFT = "if the service is configured so (draft-ietf-httpapi-ratelimit-headers-11).";
const text = { type: "string" };

/** The headers of the document. `NextPage` is sent as `Link`. */
export const headers = {
  "X-RateLimit-Limit": count(
    `The limit that applies to the API key: per ${windowNames.join(" or per ")}, whichever has fewer requests left.`,
    60,
  ),
  "X-RateLimit-Remaining": count("The requests left in the current window.", 59),
  "X-RateLimit-Reset": count(
    "The Unix timestamp, in seconds, at which the limit resets.",
    1893456060,
  ),
  "Cache-Control": oneOf("Responses depend on the API key and must not be stored.", "no-store"),
  "X-Content-Type-Options": oneOf("The media type must not be guessed from the body.", "nosniff"),
  "Retry-After": count(
    "The seconds to wait. A client that waits exactly this long after a 429 is served.",
    60,
    1,
  ),
  "WWW-Authenticate": oneOf(
    "How to authenticate (RFC 6750, section 3).",
    'Bearer realm="petstore"',
    'Bearer realm="petstore", error="invalid_token"',
  ),
  Accept: optional(
    oneOf("The supported media type, if the media type was the problem.", "application/json"),
  ),
  "Accept-Encoding": optional(
    oneOf("The supported content coding, if the content coding was the problem.", "identity"),
  ),
  Location: header(
    "The path of the new pet.",
    { type: "string", format: "uri-reference" },
    "/v1/pets/1",
  ),
  "Idempotent-Replayed": optional(
    oneOf("Sent if an earlier request with the same Idempotency-Key created the pet.", "true"),
  ),
  NextPage: optional(
    header(
      "The next page, if there is one (RFC 8288), as a reference relative to the URL of the request.",
      { type: "string", pattern: '^<\\?[^>]*after=-?\\d+>; rel="next"$' },
      '<?limit=2&after=2>; rel="next"',
    ),
  ),
  "X-Request-Id": optional(
    header(
      "The id of the request in the log of the service, or the one that the client sent.",
      text,
      "0b6a7d1e-5c0f-4d7e-9a58-6f1f0d3b2c4a",
    ),
  ),
  RateLimit: optional(header(`The requests left in each window, ${DRAFT}`, text)),
  "RateLimit-Policy": optional(header(`The plan's windows, ${DRAFT}`, text)),
};

function header(description: string, schema: object, example?: string | number) {
  return { description, required: true, schema, ...(example !== undefined && { example }) };
}

function optional<Header extends object>(one: Header) {
  return { ...one, required: false };
}

function count(description: string, example: number, minimum = 0) {
  return header(description, { type: "integer", minimum }, example);
}

/** One of these texts. Not `const`: generators do not know it without a type. */
function oneOf(description: string, ...texts: readonly string[]) {
  return header(description, { type: "string", enum: texts });
}
