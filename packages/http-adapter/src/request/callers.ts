import type { Caller, PetStore } from "@petstore/core";
import type { HttpRequest } from "../http-message.js";
import type { HttpSettings } from "../options.js";
import { apiKeyOf } from "./headers.js";

/**
 * Creates the function that finds the caller of a request. It remembers the last caller of each connection, because a
 * caller hashes its key only once. The engine still checks with every request whether the key is valid. It reports the
 * first request that came through a proxy, if the host has not said which proxies may name the client.
 */
export function createCallers(store: PetStore, { hasClientAddress, onError }: HttpSettings) {
  let isReported = hasClientAddress;
  const remembered = new WeakMap<object, Remembered>();
  return (request: HttpRequest, clientAddress: string | undefined): Caller => {
    const { connection } = request;
    const lines = request.lines("authorization");
    const authorization = lines.join("\n");
    const last = connection && remembered.get(connection);
    if (last?.authorization === authorization && last.clientAddress === clientAddress)
      return last.caller;
    if (!isReported && FORWARDED.some((name) => request.lines(name).length > 0)) {
      isReported = true;
      // A stack would say nothing.
      onError(Object.assign(new Error(UNTRUSTED_PROXY), { stack: UNTRUSTED_PROXY }));
    }
    const caller = store.as(apiKeyOf(lines), clientAddress);
    if (connection) remembered.set(connection, { authorization, clientAddress, caller });
    return caller;
  };
}

type Remembered = { authorization: string; clientAddress: string | undefined; caller: Caller };

const FORWARDED = ["x-forwarded-for", "forwarded"];
const UNTRUSTED_PROXY =
  'A request came through a proxy, but no option says which proxy to trust, so clients without a valid key share one bucket: set clientAddress, such as clientAddressBehind(["127.0.0.1"]), or petstore serve --trust-proxy.';
