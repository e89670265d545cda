import type { IncomingMessage, ServerResponse } from "node:http";
import type { Place } from "../place.js";
import { methodNotAllowed } from "../refusal.js";
import { METHODS } from "../route.js";
import { createClientErrors } from "./client-errors.js";
import { createForwarding } from "./forward.js";
import { takeOverHostCheck, type HostChecking } from "./host-check.js";
import { inTurn } from "./in-turn.js";
import { overrideEmit } from "./override-emit.js";
import type { Expectation } from "./request.js";
import { eventOf } from "./server-event.js";
import { standInFor } from "./stand-in.js";
import type { NodeTransport } from "./transport.js";

/** A request below the base path, caught before any listener of the server has seen it. */
export interface Intercepted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly place: Place;
  readonly expectation: Expectation;
  /** Hands it to the server's own listeners after all, as a request that expects nothing. */
  readonly passOn: () => void;
}

/** How a store speaks for a whole server. */
export interface Ownership {
  /** When left out: it does as long as nobody else listens for `request` or `clientError`. */
  readonly ownsServer?: boolean | undefined;
  /** Sees the response to each message that cannot be read, before it is written. */
  readonly onUnreadable?: ((response: ServerResponse) => void) | undefined;
}

/**
 * Stands before a server's listeners and takes every request below the base path; the others reach
 * the server as ever. Where the store owns the server, it also answers what Node refuses by itself.
 *
 * @returns a function that undoes it. Calling it again does nothing.
 */
export function intercept(
  server: HostChecking,
  transport: Pick<NodeTransport, "locate" | "refuse" | "renderRefusal">,
  take: (intercepted: Intercepted) => void,
  { ownsServer, onUnreadable }: Ownership = {},
): () => void {
  const clientErrors = createClientErrors(transport.renderRefusal, onUnreadable);
  const hostCheck = takeOverHostCheck(server);
  const known = new WeakSet<IncomingMessage>();
  const owns = (): boolean => ownsServer ?? isUnclaimed(server);

  const restoreEmit = overrideEmit(server, (inner) => {
    const forward = createForwarding(server, inner, { transport, hostCheck, owns });
    return (name, ...args) => {
      const event = eventOf(name, args);
      switch (event.kind) {
        case "request": {
          const { expectation, request, response } = event;
          // One that waited for its turn is emitted a second time, without its expectation.
          const isKnown = known.has(request);
          if (!isKnown && clientErrors.hasFailed(request.socket)) return true;
          known.add(request);
          if (!isKnown) clientErrors.watch(request, response);
          const place = transport.locate(request);
          if (place === undefined) {
            inTurn(response, () => void forward.request(expectation, request, response));
            return true;
          }
          const passOn = (): void => void inner("request", request, response);
          take({ request, response, place, expectation, passOn });
          return true;
        }
        case "clientError":
          if (!owns()) return forward.event(name, args);
          clientErrors.handle(event.error, event.socket);
          return true;
        case "connect":
          if (!forward.isLeftToNode("connect")) return forward.event(name, args);
          if (owns()) clientErrors.refuse(methodNotAllowed(METHODS), event.socket);
          else event.socket.destroy();
          return true;
        case "other":
          return forward.event(name, args);
      }
    };
  });
  return standInFor(server, STOOD_IN, () => {
    restoreEmit();
    hostCheck.release();
  });
}

const STOOD_IN = ["checkContinue", "checkExpectation", "connect"];

function isUnclaimed(server: HostChecking): boolean {
  return server.listenerCount("request") === 0 && server.listenerCount("clientError") === 0;
}
