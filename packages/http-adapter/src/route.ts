import { err, ok, type Result } from "neverthrow";
import { methodNotAllowed, notFound, type MethodNotAllowed, type NotFound } from "./refusal.js";

/** The operation that a request asks for (specification, "Endpoints"). */
export type Operation =
  | { readonly kind: "listPets" }
  | { readonly kind: "createPet" }
  | { readonly kind: "getPet"; readonly petId: string };

/** All methods that any path answers. */
export const METHODS = "GET, HEAD, POST";

/**
 * Finds the operation for what follows the base path. Paths come first: what is nowhere is 404
 * whatever the method. HEAD is answered wherever GET is (RFC 9110, section 9.1).
 */
export function matchRoute(
  path: string,
  method: string,
): Result<Operation, NotFound | MethodNotAllowed> {
  if (path === "/pets") return matchCollection(method);
  const petId = path.startsWith("/pets/") ? path.slice("/pets/".length) : "";
  return petId === "" || petId.includes("/") ? err(notFound()) : matchPet(petId, method);
}

function matchCollection(method: string): Result<Operation, MethodNotAllowed> {
  if (isRead(method)) return ok({ kind: "listPets" });
  return method === "POST" ? ok({ kind: "createPet" }) : err(methodNotAllowed(METHODS));
}

function matchPet(petId: string, method: string): Result<Operation, MethodNotAllowed> {
  return isRead(method) ? ok({ kind: "getPet", petId }) : err(methodNotAllowed("GET, HEAD"));
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
