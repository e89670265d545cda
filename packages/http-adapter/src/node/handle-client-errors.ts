import type { PetStore } from "@petstore/core";
import { expectationFailed, methodNotAllowed } from "../refusal.js";
import { METHODS } from "../route.js";
import { createClientErrors } from "./client-errors.js";
import { flawWithoutHost } from "./flaw.js";
import { createForwarding } from "./forward.js";
import { takeOverHostCheck } from "./host-check.js";
import type { NodeServer } from "./mount.js";
import { parseNodeSettings, type NodeOptions } from "./options.js";
import { overrideEmit } from "./override-emit.js";
import { eventOf } from "./server-event.js";
import { isUnheard, standInFor } from "./stand-in.js";
import { createNodeTransport } from "./transport.js";

/**
 * Answers, on a host's own server, what Node refuses by itself: what its parser cannot read, what
 * arrives too slowly, what lacks a Host. Such a request has no path, so it cannot be told whose it
 * is: each gets the store's Error body and rate limit headers, with the quota of the socket's
 * address, and `Connection: close`. A response that is under way is delivered whole before.
 *
 * `mount` does it by itself on a server where nobody else listens.
 *
 * ```ts
 * const server = app.listen(3000);
 * handleClientErrors(server, store);
 * ```
 * @returns a function that undoes it: the server is as it was. Calling it again does nothing.
 * @throws TypeError that names the option, when one is wrong.
 */
export function handleClientErrors(
  server: NodeServer,
  store: PetStore,
  options: NodeOptions = {},
): () => void {
  const transport = createNodeTransport(store, parseNodeSettings(options));
  const clientErrors = createClientErrors(transport.renderRefusal);
  const hostCheck = takeOverHostCheck(server);

  const restoreEmit = overrideEmit(server, (inner) => {
    const forward = createForwarding(server, inner, { transport, hostCheck, owns: () => true });
    return (name, ...args) => {
      const event = eventOf(name, args);
      switch (event.kind) {
        case "clientError":
          clientErrors.handle(event.error, event.socket);
          return true;
        case "request":
          if (clientErrors.hasFailed(event.request.socket)) return true;
          clientErrors.watch(event.request, event.response);
          if (hostCheck.refuses(event.request)) {
            transport.refuse(flawWithoutHost(event.request), event.request, event.response);
            return true;
          }
          if (event.expectation === "unknown" && forward.isLeftToNode("checkExpectation")) {
            transport.refuse(expectationFailed(), event.request, event.response);
            return true;
          }
          return inner(name, ...args);
        case "connect":
          if (!isUnheard(server, "connect")) return inner(name, ...args);
          clientErrors.refuse(methodNotAllowed(METHODS), event.socket);
          return true;
        case "other":
          return inner(name, ...args);
      }
    };
  });
  return standInFor(server, STOOD_IN, () => {
    restoreEmit();
    hostCheck.release();
  });
}

const STOOD_IN = ["checkExpectation", "connect"];
