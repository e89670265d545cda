import type { Caller, PetStore } from "@petstore/core";
import type { HttpRequest } from "../http-message.js";
import { apiKeyOf } from "./headers.js";

interface Remembered {
  readonly authorization: string;
  readonly clientAddress: string | undefined;
  readonly caller: Caller;
}

/**
 * Creates the function that finds the caller of a request. It remembers the last caller of each connection, because a
 * caller hashes its key only once. The engine still checks with every request whether the key is valid.
 *
 * @param onNew receives the first request of each caller
 */
export function createCallers(store: PetStore, onNew: (request: HttpRequest) => void) {
  const remembered = new WeakMap<object, Remembered>();
  return (request: HttpRequest, clientAddress: string | undefined): Caller => {
    const { connection } = request;
    const lines = request.lines("authorization");
    const authorization = lines.join("\n");
    const last = connection && remembered.get(connection);
    if (last?.authorization === authorization && last.clientAddress === clientAddress)
      return last.caller;
    onNew(request);
    const caller = store.as(apiKeyOf(lines), clientAddress);
    if (connection) remembered.set(connection, { authorization, clientAddress, caller });
    return caller;
  };
}

/**
 * Creates the function that reports the first request that came through a proxy. For hosts that have not said which
 * proxies may name the client.
 */
export function createProxyReport(onError: (cause: unknown) => void) {
  let isReported = false;
  return ({ lines }: HttpRequest): void => {
    if (isReported || !FORWARDED.some((name) => lines(name).length > 0)) return;
    isReported = true;
    onError(new Error(UNTRUSTED_PROXY));
  };
}

const FORWARDED = ["x-forwarded-for", "forwarded"];
const UNTRUSTED_PROXY =
  'A request came through a proxy, but no option says which proxy to trust, so clients without a valid key share one bucket: set clientAddress, such as clientAddressBehind(["127.0.0.1"]), or petstore serve --trust-proxy.';
