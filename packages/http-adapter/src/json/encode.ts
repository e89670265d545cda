import type { Pet } from "@petstore/core";

/** The three bodies as JSON text. Hand-written, since JSON.stringify cannot write a bigint. */

/** A Pet (specification, "Pet"); its int64s are JSON numbers, exact to the last digit. */
export function encodePet({ id, name, categoryId, status }: Pet): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}

/** Pets (specification, "Pets"): a bare array. */
export function encodePets(pets: readonly Pet[]): string {
  return `[${pets.map(encodePet).join(",")}]`;
}

/** An Error (specification, "Error"). */
export function encodeError(error: {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}): string {
  const { code, message, status } = error;
  return JSON.stringify({ code, message, status });
}
