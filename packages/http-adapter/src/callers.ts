import type { Caller, PetStore } from "@petstore/core";
import type { HttpRequest } from "./http-message.js";
import { apiKeyOf } from "./request-headers.js";

interface Remembered {
  readonly authorization: string | undefined;
  readonly clientAddress: string | undefined;
  readonly caller: Caller;
}

/**
 * Creates the function that finds the caller of a request. It remembers the last caller of each
 * connection, because a client sends the same key with every request and a caller hashes its key only
 * once. The engine still checks with every request whether the key is valid.
 *
 * @param onNew receives the first request of each caller
 */
export function createCallers(
  store: PetStore,
  onNew: (request: HttpRequest) => void,
): (request: HttpRequest, clientAddress: string | undefined) => Caller {
  const remembered = new WeakMap<object, Remembered>();
  return (request, clientAddress) => {
    const { connection, lines } = request;
    const authorizations = lines("authorization");
    if (connection === undefined || authorizations.length > 1) {
      onNew(request);
      return store.as(apiKeyOf(authorizations), clientAddress);
    }
    const [authorization] = authorizations;
    const last = remembered.get(connection);
    if (
      last !== undefined &&
      last.authorization === authorization &&
      last.clientAddress === clientAddress
    ) {
      return last.caller;
    }
    onNew(request);
    const caller = store.as(apiKeyOf(authorizations), clientAddress);
    remembered.set(connection, { authorization, clientAddress, caller });
    return caller;
  };
}

/**
 * Creates the function that reports the first request that came through a proxy, where no option says which proxy may
 * name the client.
 */
export function createProxyReport(
  onError: (cause: unknown) => void,
): (request: HttpRequest) => void {
  let isReported = false;
  return ({ lines }) => {
    if (isReported || !FORWARDED.some((name) => lines(name).length > 0)) return;
    isReported = true;
    onError(new Error(UNTRUSTED_PROXY));
  };
}

const FORWARDED = ["x-forwarded-for", "forwarded"];
const UNTRUSTED_PROXY =
  'A request came through a proxy, but no option says which proxy to trust, so clients without a valid key share one bucket: set clientAddress, such as clientAddressBehind(["127.0.0.1"]), or petstore serve --trust-proxy.';
