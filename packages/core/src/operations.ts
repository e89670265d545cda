/** What is known of an operation of the service (specification, "Endpoints" and "Versioning"). */
export interface OperationFacts<Code extends string = string> {
  /** A `GET` has a `HEAD`, too (RFC 9110, section 9.1). */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The template of its path, below the base path; at most its end is a parameter. */
  readonly path: string;
  /** The status of its success; a 204 has no body. */
  readonly success: number;
  /** The codes of its errors that not all operations have, once its request is admitted. */
  readonly errors: Readonly<Record<Code, true>>;
  /** If it is deprecated: the days in UTC of its deprecation and its removal, and a reference to its successor. */
  readonly deprecation?: Readonly<Record<"since" | "removal" | "successor", string>>;
}

/**
 * The operations: the types of their errors, routes, `Allow`, reports, events, the client and the OpenAPI document follow
 * from this table.
 */
export const operations = {
  listPets: { method: "GET", path: "/pets", success: 200, errors: { invalid_query: true } },
  createPet: {
    method: "POST",
    path: "/pets",
    success: 201,
    errors: { invalid_idempotency_key: true, invalid_pet: true, idempotency_key_reused: true },
  },
  getPet: {
    method: "GET",
    path: "/pets/{petId}",
    success: 200,
    errors: { pet_not_found: true },
    deprecation: { since: "5 December 2025", removal: "5 December 2030", successor: "../pets" },
  },
} as const satisfies Readonly<Record<string, OperationFacts>>;

/** The name of an operation (specification, "Endpoints"). */
export type OperationName = keyof typeof operations;

export type DeprecatedOperation = {
  [Name in OperationName]: (typeof operations)[Name] extends { readonly deprecation: unknown }
    ? Name
    : never;
}[OperationName];

export function isDeprecated(name: OperationName): name is DeprecatedOperation {
  return "deprecation" in operations[name];
}
