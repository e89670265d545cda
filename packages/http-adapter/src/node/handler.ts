import type { IncomingMessage, ServerResponse } from "node:http";
import type { PetStore } from "@petstore/core";
import { notFound } from "../refusal.js";
import { parseNodeSettings, type NodeOptions } from "./options.js";
import { createNodeTransport } from "./transport.js";

/** A listener for `request`, and a middleware for whatever calls middlewares like Express does. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: () => void,
) => void;

/**
 * Creates a handler for a store: `createServer(createNodeHandler(store))`, `app.use(…)`. It answers
 * what goes below the base path and calls `next` for the rest or, without a `next`, answers 404.
 *
 * A client that expects `100 Continue` got it from Node before any handler runs; only `mount` sends
 * it after the checks.
 * @throws TypeError that names the option, when one is wrong.
 */
export function createNodeHandler<Request extends IncomingMessage = IncomingMessage>(
  store: PetStore,
  options: NodeOptions<Request> = {},
): NodeHandler<Request> {
  const transport = createNodeTransport(store, parseNodeSettings(options));
  return (request, response, next) => {
    const place = transport.locate(request);
    if (place !== undefined) transport.serve(request, response, place, "none");
    else if (next !== undefined) next();
    else transport.refuse(notFound(), request, response);
  };
}
