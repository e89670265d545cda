import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Emit } from "./override-emit.js";
import type { Expectation } from "./request.js";
import type { NodeTransport } from "./transport.js";

/** Leaves to a server's own listeners what a mount does not take. */
export interface Forwarding {
  /** Passes on an event that is no request. */
  event(event: string | symbol, args: readonly unknown[]): boolean;
  /** Passes on a request and, where nobody listens, does what Node does then. */
  request(expectation: Expectation, request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * Node asks how to meet an expectation only where somebody listens: so a mount has this stand there.
 * It has nothing to do, since the mount's `emit` has seen to the request.
 */
export function standIn(): void {
  // See above.
}

/** Asks the mounts further in whether there is one. */
const IS_MOUNTED = Symbol("petstore: is mounted");

/** The forwarding of a mount, to the `emit` that it has taken the place of. */
export function createForwarding(
  server: EventEmitter,
  inner: Emit,
  transport: Pick<NodeTransport, "serveElsewhere">,
): Forwarding {
  const isLeftToNode = (event: string): boolean =>
    server.listeners(event).every((listener) => listener === standIn) && !inner(IS_MOUNTED);

  return {
    event: (event, args) => event === IS_MOUNTED || inner(event, ...args),
    request: (expectation, request, response) => {
      switch (expectation) {
        case "none":
          if (!inner("request", request, response)) transport.serveElsewhere(request, response);
          return true;
        case "continue":
          if (!isLeftToNode("checkContinue")) return inner("checkContinue", request, response);
          response.writeContinue();
          return server.emit("request", request, response);
        case "unknown":
          if (!isLeftToNode("checkExpectation"))
            return inner("checkExpectation", request, response);
          response.writeHead(417).end();
          return true;
      }
    },
  };
}
