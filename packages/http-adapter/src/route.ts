import { err, ok, type Result } from "neverthrow";
import { methodNotAllowed, notFound, type MethodNotAllowed, type NotFound } from "./refusal.js";

/** The parts of a request target, once it is known to be below the base path. */
export interface Target {
  /** The part of the path after the base path, raw: `/pets/7`, or `""`. */
  readonly path: string;
  /** The part after the question mark, raw; `""` when there is none. */
  readonly query: string;
  /** The whole path as the client sent it, also where a host's router has cut its own prefix. */
  readonly clientPath: string;
}

/** The name of an operation (specification, "Endpoints"). */
export type OperationName = "listPets" | "createPet" | "getPet";

/** The operation that a path and a method name. */
export type Route =
  | { readonly operation: "listPets" | "createPet" }
  | { readonly operation: "getPet"; readonly petId: string };

/** All methods that any path has. */
export const METHODS = "GET, HEAD, POST";

/**
 * Splits a raw request target, or returns `undefined` when it is not below the base path. Text is
 * compared with text: nothing is decoded, resolved or folded, so that `//evil/v1/pets`,
 * `/v1/%2e%2e/v1/pets` and `/V1/pets` stay what they are.
 *
 * @param target the target to route on, in origin or absolute form (RFC 9112, section 3.2)
 * @param clientTarget the target as the client sent it
 */
export function locate(
  basePath: string,
  target: string,
  clientTarget = target,
): Target | undefined {
  const { path, query } = split(target);
  const isBelow = path === basePath || path.startsWith(`${basePath}/`);
  if (!isBelow) return undefined;
  return {
    path: path.slice(basePath.length),
    query,
    clientPath: clientTarget === target ? path : split(clientTarget).path,
  };
}

/**
 * Finds the operation for a path below the base path. 404 wins over 405. HEAD is there wherever GET
 * is (RFC 9110, section 9.1).
 */
export function matchRoute(
  path: string,
  method: string,
): Result<Route, NotFound | MethodNotAllowed> {
  const isRead = method === "GET" || method === "HEAD";
  if (path === "/pets") {
    if (isRead) return ok({ operation: "listPets" });
    return method === "POST" ? ok({ operation: "createPet" }) : err(methodNotAllowed(METHODS));
  }
  const petId = path.startsWith("/pets/") ? path.slice("/pets/".length) : "";
  if (petId === "" || petId.includes("/")) return err(notFound());
  return isRead ? ok({ operation: "getPet", petId }) : err(methodNotAllowed("GET, HEAD"));
}

/** RFC 9110, sections 4.2.1 and 4.2.4: there must be a host, and no user information. */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#@]+(?=[/?#]|$)/i;

function split(target: string): { readonly path: string; readonly query: string } {
  const reference = target.startsWith("/") ? target : target.replace(SCHEME_AND_AUTHORITY, "");
  const mark = reference.indexOf("?");
  return mark === -1
    ? { path: reference, query: "" }
    : { path: reference.slice(0, mark), query: reference.slice(mark + 1) };
}
