import type { PetStoreError } from "@petstore/core";
import { ownCodes, type OperationName } from "@petstore/core/facts";

/** What is known of an operation of the service (specification, "Endpoints" and "Versioning"). */
export interface OperationFacts<Codes = Partial<Record<PetStoreError["code"], true>>> {
  /** A `GET` has a `HEAD`, too (RFC 9110, section 9.1). */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The template of its path, below the base path; at most its end is a parameter. */
  readonly path: string;
  /** The status of its success; a 204 has no body. */
  readonly success: number;
  /** The codes of the errors that only this operation has. */
  readonly errors: Readonly<Codes>;
  /** If it is deprecated: the days in UTC of its deprecation and its removal, and a reference to its successor. */
  readonly deprecation?: Readonly<Record<"since" | "removal" | "successor", string>>;
}

/** The operations: routes, `Allow`, reports, the client and the OpenAPI document follow from this table. */
export const operations = {
  listPets: { method: "GET", path: "/pets", success: 200, errors: ownCodes.listPets },
  createPet: { method: "POST", path: "/pets", success: 201, errors: ownCodes.createPet },
  getPet: {
    method: "GET",
    path: "/pets/{petId}",
    success: 200,
    errors: ownCodes.getPet,
    deprecation: { since: "5 December 2025", removal: "5 December 2030", successor: "../pets" },
  },
} as const satisfies {
  readonly [Name in OperationName]: OperationFacts<(typeof ownCodes)[Name]>;
};
