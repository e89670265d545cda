import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { harmless, reportRejection } from "../host-callback.js";
import { NO_FIELDS } from "../render.js";
import { must, mustBeOptions } from "../settings.js";
import { intercept } from "./intercept.js";
import { parseNodeSettings, type NodeOptions } from "./options.js";
import { createNodeTransport } from "./transport.js";

/** Any of Node's own servers for HTTP/1.1. */
export type NodeServer = Server | SecureServer;

/** What `mount` can be given; everything has a default. */
export interface MountOptions extends NodeOptions {
  /**
   * Whether the store speaks for the whole server: then also what Node refuses by itself (bad
   * syntax, oversized headers, slow requests, CONNECT) is answered with an Error body and the rate
   * limit headers. When left out: as long as nobody else listens for `request` or `clientError`.
   */
  readonly ownsServer?: boolean | undefined;
  /**
   * Further headers for an answer, such as an X-Request-Id, as names and values in turn. Asked for
   * when the answer is written: a header set on the response before makes Node take its slow way with all
   * headers. The request is empty where the message could not be read. Where it throws, or answers what
   * are no headers in ASCII, or what only the store may say (where the answer ends, its type, its limit),
   * that is reported, and the answer goes out without.
   */
  readonly headers?: ((request: IncomingMessage) => readonly string[]) | undefined;
  /**
   * Sees the response to each message that Node could not read, before it is written: a place for a
   * log, since no listener of `request` sees it. Its `req` is empty. What it throws is reported; a
   * response that it begins is its own.
   */
  readonly onUnreadable?: ((response: ServerResponse) => void) | undefined;
}

/**
 * Mounts a store on a server, whatever else listens there, before or after: it takes the requests
 * below the base path and leaves the others to the server's own listeners. What goes elsewhere and
 * has no listener is answered 404. A request to upgrade goes to the listeners of `upgrade` where there are
 * any, whatever its path: Node has no response for it.
 *
 * ```ts
 * const server = createServer();
 * const unmount = mount(server, store);
 * server.listen(3000);
 * ```
 * @returns a function that unmounts: the server is as it was. Calling it again does nothing.
 * @throws TypeError that names the option, when one is wrong.
 */
export function mount(server: NodeServer, store: PetStore, options: MountOptions = {}): () => void {
  mustBeOptions(options, ["headers", "onUnreadable", "ownsServer"]);
  const { ownsServer, headers, onUnreadable, ...others } = options;
  must(isBooleanOrAbsent(ownsServer), "ownsServer", "must be true or false");
  must(isFunctionOrAbsent(headers), "headers", "must be a function");
  must(isFunctionOrAbsent(onUnreadable), "onUnreadable", "must be a function");
  const settings = parseNodeSettings(others);
  const { onError } = settings;
  const transport = createNodeTransport(store, settings, headers && orNone(headers, onError));
  return intercept(
    server,
    transport,
    ({ request, response, place, expectation }) => {
      transport.serve(request, response, place, expectation);
    },
    { ownsServer, onUnreadable: onUnreadable && harmless(onUnreadable, onError) },
  );
}

function orNone(
  headers: (request: IncomingMessage) => readonly string[],
  onError: (cause: unknown) => void,
): (request: IncomingMessage) => readonly string[] {
  return (request) => {
    try {
      const fields = headers(request);
      reportRejection(fields, onError);
      mustBeFields(fields);
      return fields;
    } catch (cause) {
      onError(cause);
      return NO_FIELDS;
    }
  };
}

/** RFC 9110, section 5.6.2; but for those that nobody else may say. */
const NAME =
  /^(?!(?:content-length|content-type|transfer-encoding|trailer|x-ratelimit-(?:limit|remaining|reset))$)[\w!#$%&'*+.^`|~-]+$/i;
/** RFC 9110, section 5.5: what goes beyond ASCII has no meaning, and Node refuses it in some headers. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Here, and not when the answer is written: then it would be too late to leave them out. */
function mustBeFields(fields: unknown): void {
  const isPairs = Array.isArray(fields) && fields.length % 2 === 0;
  if (!isPairs) throw new TypeError("headers must answer an array of names and values in turn");
  for (let index = 0; index < fields.length; index += 1) {
    const text: unknown = fields[index];
    const isName = index % 2 === 0;
    if (typeof text !== "string" || !(isName ? NAME : VALUE).test(text)) {
      const what = isName
        ? `the name ${String(text)}`
        : `this value of ${String(fields[index - 1])}`;
      throw new TypeError(`headers must not answer ${what}`);
    }
  }
}

function isFunctionOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "function";
}

function isBooleanOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "boolean";
}
