import type { Caller, PetStore } from "@petstore/core";
import { apiKeyOf } from "./authorization.js";
import type { HttpRequest } from "./http-message.js";

/** Finds the caller that a request comes from. */
export type Callers = (request: Pick<HttpRequest, "connection" | "lines" | "origin">) => Caller;

interface Remembered {
  readonly authorization: string | undefined;
  readonly origin: string | undefined;
  readonly caller: Caller;
}

/**
 * The callers of a store. A client sends the same credential with every request of a connection, and
 * a caller digests its key once: so each connection's last caller is remembered, with the connection
 * and no longer. Whether its key is still accepted is asked with every request all the same.
 */
export function createCallers(store: PetStore): Callers {
  const remembered = new WeakMap<object, Remembered>();
  return ({ connection, lines, origin }) => {
    const authorizations = lines("authorization");
    if (connection === undefined || authorizations.length > 1) {
      return store.as(apiKeyOf(authorizations), origin);
    }
    const [authorization] = authorizations;
    const last = remembered.get(connection);
    if (last !== undefined && last.authorization === authorization && last.origin === origin) {
      return last.caller;
    }
    const caller = store.as(apiKeyOf(authorizations), origin);
    remembered.set(connection, { authorization, origin, caller });
    return caller;
  };
}
