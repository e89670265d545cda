import { parseInt64, type ListPetsInput } from "@petstore/core";
import type { OperationName } from "@petstore/core/facts";
import type { EachField } from "@petstore/core/internal";
import { operations } from "@petstore/wire";
import { err, ok, type Result } from "neverthrow";
import {
  methodNotAllowed,
  notFound,
  type MethodNotAllowedError,
  type NotFoundError,
} from "./error.js";

/** The parts of a request target below the base path. */
export interface Target {
  /** The part of the path after the base path, raw: `/pets/7`, or `""`. */
  readonly path: string;
  /** The part after the question mark, raw; `""` if there is none. */
  readonly query: string;
  /** The whole path as the client sent it, even if the host's router has cut its own prefix. */
  readonly clientPath: string;
}

/** The operation that a path and a method name, and the value of the path's parameter; `""` if it has none. */
export interface Route {
  readonly operation: OperationName;
  readonly parameter: string;
}

/** The operations at the paths of one template, by method. */
interface Path {
  /** The path, up to its parameter if it has one. */
  readonly start: string;
  readonly hasParameter: boolean;
  readonly byMethod: ReadonlyMap<string, OperationName>;
  /** Its methods, as `Allow` lists them. */
  readonly allow: string;
}

const names = Object.keys(operations).filter((name): name is OperationName => name in operations);

const paths: readonly Path[] = [...new Set(names.map((name) => operations[name].path))].map(
  (template) => {
    const [start = ""] = template.split("{");
    const byMethod = methodsOf(names.filter((name) => operations[name].path === template));
    const allow = [...byMethod.keys()].join(", ");
    return { start, hasParameter: start !== template, byMethod, allow };
  },
);

/** HEAD is supported wherever GET is (RFC 9110, section 9.1). */
function methodsOf(ofPath: readonly OperationName[]): ReadonlyMap<string, OperationName> {
  return new Map(
    ofPath.flatMap((name) => {
      const methods =
        operations[name].method === "GET" ? ["GET", "HEAD"] : [operations[name].method];
      return methods.map((method) => [method, name] as const);
    }),
  );
}

/** Every method that some path supports. */
export const ALLOWED_METHODS = [
  ...new Set(paths.flatMap(({ byMethod }) => [...byMethod.keys()])),
].join(", ");

/**
 * Splits a raw request target, or returns `undefined` if it is not below the base path. The text is
 * compared as it is: without decoding, resolving dot segments or folding case. So `//evil/v1/pets`
 * and `/V1/pets` are not below `/v1`, and the path of `/v1/%2e%2e/v1/pets` is `/%2e%2e/v1/pets`.
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

/** Finds the operation for a path below the base path. 404 comes before 405. */
export function matchRoute(
  path: string,
  method: string,
): Result<Route, NotFoundError | MethodNotAllowedError> {
  for (const { start, hasParameter, byMethod, allow } of paths) {
    if (hasParameter ? !path.startsWith(start) : path !== start) continue;
    const parameter = path.slice(start.length);
    if (hasParameter && (parameter === "" || parameter.includes("/"))) continue;
    const operation = byMethod.get(method);
    return operation === undefined ? err(methodNotAllowed(allow)) : ok({ operation, parameter });
  }
  return err(notFound());
}

/** RFC 9110, sections 4.2.1 and 4.2.4: a host is required, and user information is not allowed. */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#@]+(?=[/?#]|$)/i;

/**
 * Returns a request target in origin form, `/path?query`, if it is in absolute form (RFC 9112, section 3.2.2), which
 * names the same resource; otherwise as it is.
 */
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

type Text = string | readonly string[] | undefined;

/**
 * The list parameters, not validated: a number or an int64 if the text is one, otherwise the text, or
 * all texts if a parameter is repeated. The engine validates them.
 */
export interface ListQuery extends EachField<Record<keyof ListPetsInput, unknown>> {
  readonly limit: number | Text;
  readonly status: Text;
  readonly after: bigint | Text;
}

/** Reads the raw query of GET /pets (specification, "GET /pets"); other parameters are ignored. */
export function readListQuery(query: string): ListQuery {
  const parameters = new URLSearchParams(query);
  return {
    limit: toNumber(textOf(parameters, "limit")),
    status: textOf(parameters, "status"),
    after: toId(textOf(parameters, "after")),
  };
}

/**
 * Returns the `Link` to the next page, with the client's own limit and status. The reference is only a
 * query, so that it also works behind a mount or a proxy (RFC 3986, section 5.3).
 */
export function nextLink({ limit, status }: ListQuery, after: bigint): string {
  const parameters: EachField<Record<keyof ListPetsInput, bigint | number | Text>> = {
    limit,
    status,
    after,
  };
  const parts = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || typeof value === "object" ? [] : `${name}=${value}`,
  );
  return `<?${parts.join("&")}>; rel="next"`;
}

function textOf(parameters: URLSearchParams, name: string): Text {
  const values = parameters.getAll(name);
  return values.length > 1 ? values : values[0];
}

function toNumber(text: Text): number | Text {
  return typeof text === "string" && /^\d+$/.test(text) ? Number(text) : text;
}

function toId(text: Text): bigint | Text {
  return typeof text === "string" ? (parseInt64(text) ?? text) : text;
}
