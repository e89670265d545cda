import { PAGE_LIMIT } from "@petstore/core";
import type { Parameter, Reference } from "./document.js";
import { int64, schema } from "./schemas.js";

type ParameterName = "limit" | "status" | "after" | "petId";

/** References to these parameters. */
export function parameterReferences(...names: readonly ParameterName[]): readonly Reference[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** The parameters of all operations, by name. Others are ignored; none may be repeated. */
export const parameters: Readonly<Record<ParameterName, Parameter>> = {
  limit: {
    name: "limit",
    in: "query",
    description: "Maximum number of animals returned, in decimal digits.",
    required: false,
    schema: { type: "integer", ...PAGE_LIMIT },
  },
  status: {
    name: "status",
    in: "query",
    description: "Restricts the list to animals with this status.",
    required: false,
    schema: schema("PetStatus"),
  },
  after: {
    name: "after",
    in: "query",
    description:
      "Restricts the list to animals with a greater id. The `Link` header of a page has the next one's.",
    required: false,
    schema: int64("The last id seen."),
  },
  petId: {
    name: "petId",
    in: "path",
    description: "Identifier of the animal to retrieve.",
    required: true,
    schema: int64("The id of a pet, in canonical decimal form."),
  },
};
