import { petStatuses, type NewPetInput, type Pet } from "@petstore/core";
import { LONGEST_NAME, type EachField } from "@petstore/core/internal";
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
