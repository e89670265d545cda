import { keysOf, operations, type OperationName } from "@petstore/core/facts";
import { err, ok, type Result } from "neverthrow";
import { methodNotAllowed, notFound, type HttpError } from "../error.js";

/** The parts of a request target below the base path. */
export interface Target {
  /** The part of the path after the base path, raw: `/pets/7`, or `""`. */
  readonly path: string;
  /** The part after the question mark, raw; `""` if there is none. */
  readonly query: string;
  /** The whole path as the client sent it, even if the host's router has cut its own prefix. */
  readonly clientPath: string;
}

export const operationNames = keysOf(operations);

const paths = [...new Set(operationNames.map((name) => operations[name].path))].map((template) => {
  const [start = ""] = template.split("{");
  const byMethod = new Map<string, OperationName>();
  for (const name of operationNames.filter((name) => operations[name].path === template)) {
    const { method } = operations[name];
    byMethod.set(method, name);
    // HEAD is supported wherever GET is (RFC 9110, section 9.1).
    if (method === "GET") byMethod.set("HEAD", name);
  }
  return { start, hasParameter: start !== template, byMethod };
});

export const ALLOWED_METHODS = [
  ...new Set(paths.flatMap(({ byMethod }) => [...byMethod.keys()])),
].join(", ");

/**
 * Splits a raw request target, in origin or absolute form (RFC 9112, section 3.2), or returns `undefined` if it is not
 * below the base path. The text is compared as it is: without decoding, resolving dot segments or folding case. So
 * `//evil/v1/pets` and `/V1/pets` are not below `/v1`, and the path of `/v1/%2e%2e/v1/pets` is `/%2e%2e/v1/pets`.
 */
export function locate(basePath: string, target: string, sentTarget = target): Target | undefined {
  const { path, query } = split(target);
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return undefined;
  return {
    path: path.slice(basePath.length),
    query,
    clientPath: sentTarget === target ? path : split(sentTarget).path,
  };
}

/** Returns the operation for a path below the base path, and its parameter, or `""`. 404 comes before 405. */
export function matchRoute(
  path: string,
  method: string,
): Result<{ operation: OperationName; parameter: string }, HttpError> {
  for (const { start, hasParameter, byMethod } of paths) {
    if (hasParameter ? !path.startsWith(start) : path !== start) continue;
    const parameter = path.slice(start.length);
    if (hasParameter && (parameter === "" || parameter.includes("/"))) continue;
    const operation = byMethod.get(method);
    return operation === undefined
      ? err(methodNotAllowed([...byMethod.keys()].join(", ")))
      : ok({ operation, parameter });
  }
  return err(notFound());
}

/** RFC 9110, sections 4.2.1 and 4.2.4: a host is required, and user information is not allowed. */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#@]+(?=[/?#]|$)/i;

/** Returns a request target in origin form, `/path?query`, if it is in absolute form (RFC 9112, section 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith("/") || !SCHEME_AND_AUTHORITY.test(target)) return target;
  const reference = target.replace(SCHEME_AND_AUTHORITY, "");
  return reference.startsWith("/") ? reference : `/${reference}`;
}

function split(target: string): { readonly path: string; readonly query: string } {
  const reference = originForm(target);
  const mark = reference.indexOf("?");
  return mark === -1
    ? { path: reference, query: "" }
    : { path: reference.slice(0, mark), query: reference.slice(mark + 1) };
}
