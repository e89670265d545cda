/** Where a request goes, once it is known to go below the base path. */
export interface Place {
  /** What follows the base path in the request target, raw: `/pets/7`, or `""`. */
  readonly path: string;
  /** What follows the question mark, raw; `""` when there is none. */
  readonly query: string;
  /** The whole path as the client sent it, also where a host's router has cut its own prefix. */
  readonly clientPath: string;
}

/**
 * Finds a request's place from its raw target, or `undefined` when that is not below the base path.
 * Text is compared with text: nothing is decoded, resolved or folded, so that `//evil/v1/pets`,
 * `/v1/%2e%2e/v1/pets` and `/V1/pets` stay what they are.
 *
 * @param target the target to route on, in origin or absolute form (RFC 9112, section 3.2)
 * @param clientTarget the target as the client sent it
 */
export function locate(basePath: string, target: string, clientTarget = target): Place | undefined {
  const { path, query } = splitTarget(target);
  const isBelow = path === basePath || path.startsWith(`${basePath}/`);
  if (!isBelow) return undefined;
  return {
    path: path.slice(basePath.length),
    query,
    clientPath: clientTarget === target ? path : splitTarget(clientTarget).path,
  };
}

/** RFC 9110, sections 4.2.1 and 4.2.4: there must be a host, and nothing about a user. */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#@]+(?=[/?#]|$)/i;

function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const reference = target.startsWith("/") ? target : target.replace(SCHEME_AND_AUTHORITY, "");
  const mark = reference.indexOf("?");
  return mark === -1
    ? { path: reference, query: "" }
    : { path: reference.slice(0, mark), query: reference.slice(mark + 1) };
}
