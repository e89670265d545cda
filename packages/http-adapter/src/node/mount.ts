import { IncomingMessage, ServerResponse, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { PetStore } from "@petstore/core";
import { createForwarding, standIn } from "./forward.js";
import { parseNodeSettings, type NodeOptions } from "./options.js";
import { overrideEmit } from "./override-emit.js";
import type { Expectation } from "./request.js";
import { createNodeTransport } from "./transport.js";

/** Any of Node's own servers for HTTP/1.1. */
export type NodeServer = Server | SecureServer;

/**
 * Mounts a store on a server, whatever else listens there, before or after: it takes the requests
 * below the base path and leaves the others to the server's own listeners. What goes elsewhere and
 * has no listener is answered 404.
 *
 * ```ts
 * const server = createServer();
 * const unmount = mount(server, store);
 * server.listen(3000);
 * ```
 * @returns a function that unmounts: the server is as it was. Calling it again does nothing.
 * @throws TypeError that names the option, when one is wrong.
 */
export function mount(server: NodeServer, store: PetStore, options: NodeOptions = {}): () => void {
  const transport = createNodeTransport(store, parseNodeSettings(options));

  const restoreEmit = overrideEmit(server, (inner) => {
    const forward = createForwarding(server, inner, transport);
    return (event, ...args) => {
      const expectation = expectationOf(event);
      const [request, response] = args;
      if (expectation === undefined || !isRequest(request) || !isResponse(response)) {
        return forward.event(event, args);
      }
      const place = transport.locate(request);
      if (place === undefined) return forward.request(expectation, request, response);
      transport.serve(request, response, place, expectation);
      return true;
    };
  });
  server.on("checkContinue", standIn).on("checkExpectation", standIn);

  let isMounted = true;
  return () => {
    if (!isMounted) return;
    isMounted = false;
    restoreEmit();
    server.off("checkContinue", standIn).off("checkExpectation", standIn);
  };
}

function expectationOf(event: string | symbol): Expectation | undefined {
  switch (event) {
    case "request":
      return "none";
    case "checkContinue":
      return "continue";
    case "checkExpectation":
      return "unknown";
    default:
      return undefined;
  }
}

function isRequest(value: unknown): value is IncomingMessage {
  return value instanceof IncomingMessage;
}

function isResponse(value: unknown): value is ServerResponse {
  return value instanceof ServerResponse;
}
