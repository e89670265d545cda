import { INT64_MAX, INT64_MIN, petStatuses } from "@petstore/core";
import { statusOf } from "../status.js";
import type { Schema } from "./document.js";
import { errorCodes, type ErrorCode } from "./error-codes.js";

type SchemaName = "PetStatus" | "NewPet" | "Pet" | "Pets" | "Error";

/** The schema of this name, where another needs it. */
export function schema(name: SchemaName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An int64: a JSON number, exact. */
export function int64(description: string): Schema {
  return {
    type: "integer",
    format: "int64",
    minimum: Number(INT64_MIN),
    maximum: Number(INT64_MAX),
    description,
  };
}

/** The Error of one status: with the codes that have this status. */
export function errorSchema(status: number, codes: readonly ErrorCode[]): Schema {
  return {
    allOf: [
      schema("Error"),
      { type: "object", properties: { code: { enum: codes }, status: { const: status } } },
    ],
  };
}

const NAME = { type: "string", description: "The animal's name: text without U+0000." } as const;

/** The schemas of the specification ("Resources and their fields"), by name. */
export function schemas(): Readonly<Record<SchemaName, Schema>> {
  return { ...resources, Error: anyError() };
}

const resources: Readonly<Record<Exclude<SchemaName, "Error">, Schema>> = {
  PetStatus: {
    type: "string",
    description: "Availability status.",
    enum: [...petStatuses],
  },
  NewPet: {
    type: "object",
    description: "An animal to be added. Other fields, an `id` among them, are ignored.",
    required: ["name", "categoryId"],
    properties: {
      name: { ...NAME, pattern: String.raw`^[^\u0000]*$` },
      categoryId: int64("Identifier of the category that the animal belongs to."),
      // Generators of types take a field with a default for one that is always there: not in a body
      // that is sent. In a subschema the default means the same, and misleads none of them.
      status: { allOf: [schema("PetStatus"), { default: "available" }] },
    },
    additionalProperties: true,
  },
  Pet: {
    type: "object",
    description: "An animal in the inventory.",
    required: ["id", "name", "categoryId", "status"],
    properties: {
      id: int64("Unique identifier, assigned when the animal is added."),
      name: NAME,
      categoryId: int64("Identifier of the category that the animal belongs to."),
      status: schema("PetStatus"),
    },
    additionalProperties: false,
  },
  Pets: {
    type: "array",
    description: "Animals in ascending order of id.",
    items: schema("Pet"),
    maxItems: 100,
  },
};

function anyError(): Schema {
  return {
    type: "object",
    description: "Why the request was not served.",
    required: ["code", "message", "status"],
    properties: {
      code: { type: "string", description: "Machine-readable error code.", enum: errorCodes },
      message: { type: "string", description: "Human-readable description." },
      status: {
        type: "integer",
        description: "The HTTP status code of the response.",
        enum: [...new Set(errorCodes.map(statusOf))].sort((a, b) => a - b),
      },
    },
    additionalProperties: false,
  };
}
