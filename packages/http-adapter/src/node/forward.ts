import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expectationFailed, notFound } from "../refusal.js";
import { flawWithoutHost } from "./flaw.js";
import type { HostCheck } from "./host-check.js";
import type { Emit } from "./override-emit.js";
import type { Expectation } from "./request.js";
import { isUnheard } from "./stand-in.js";
import type { NodeTransport } from "./transport.js";

/** Leaves to a server's own listeners what a mount does not take. */
export interface Forwarding {
  /** Whether nobody but mounts listens for an event. */
  isLeftToNode(event: string): boolean;
  /** Passes on an event that is no request. */
  event(event: string | symbol, args: readonly unknown[]): boolean;
  /** Passes on a request and, where nobody listens, does what Node does then. */
  request(expectation: Expectation, request: IncomingMessage, response: ServerResponse): boolean;
}

/** What a mount forwards with. */
export interface ForwardingContext {
  readonly transport: Pick<NodeTransport, "refuse">;
  readonly hostCheck: HostCheck;
  /** Whether the store speaks for the whole server. */
  readonly owns: () => boolean;
}

/** Asks the mounts further in whether there is one. */
const IS_MOUNTED = Symbol("petstore: is mounted");

/** The forwarding of a mount, to the `emit` that it has taken the place of. */
export function createForwarding(
  server: EventEmitter,
  inner: Emit,
  { transport, hostCheck, owns }: ForwardingContext,
): Forwarding {
  const isLeftToNode = (event: string): boolean => isUnheard(server, event) && !inner(IS_MOUNTED);

  function refuseWithoutHost(request: IncomingMessage, response: ServerResponse): boolean {
    if (owns()) transport.refuse(flawWithoutHost(request), request, response);
    else response.writeHead(400, ["Connection", "close"]).end();
    return true;
  }

  function refuseExpectation(request: IncomingMessage, response: ServerResponse): boolean {
    if (owns()) transport.refuse(expectationFailed(), request, response);
    else response.writeHead(417).end();
    return true;
  }

  return {
    isLeftToNode,
    event: (event, args) => event === IS_MOUNTED || inner(event, ...args),
    request: (expectation, request, response) => {
      if (hostCheck.refuses(request) && !inner(IS_MOUNTED))
        return refuseWithoutHost(request, response);
      switch (expectation) {
        case "none":
          if (!inner("request", request, response)) transport.refuse(notFound(), request, response);
          return true;
        case "continue":
          if (!isLeftToNode("checkContinue")) return inner("checkContinue", request, response);
          response.writeContinue();
          return server.emit("request", request, response);
        case "unknown":
          if (!isLeftToNode("checkExpectation"))
            return inner("checkExpectation", request, response);
          return refuseExpectation(request, response);
      }
    },
  };
}
