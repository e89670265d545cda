import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Expectation } from "./request.js";

/** An event of a server, as far as it concerns a mount. */
export type ServerEvent =
  | {
      readonly kind: "request";
      readonly expectation: Expectation;
      readonly request: IncomingMessage;
      readonly response: ServerResponse;
    }
  | { readonly kind: "clientError"; readonly error: unknown; readonly socket: Socket }
  | { readonly kind: "connect"; readonly socket: Socket }
  | { readonly kind: "other" };

const OTHER: ServerEvent = Object.freeze({ kind: "other" });

/** Reads what a server emits: the name of an event and its arguments. */
export function eventOf(name: string | symbol, [first, second]: readonly unknown[]): ServerEvent {
  switch (name) {
    case "request":
      return requestOf("none", first, second);
    case "checkContinue":
      return requestOf("continue", first, second);
    case "checkExpectation":
      return requestOf("unknown", first, second);
    case "clientError":
      return second instanceof Socket ? { kind: name, error: first, socket: second } : OTHER;
    case "connect":
      return second instanceof Socket ? { kind: name, socket: second } : OTHER;
    default:
      return OTHER;
  }
}

function requestOf(expectation: Expectation, request: unknown, response: unknown): ServerEvent {
  return isRequest(request) && isResponse(response)
    ? { kind: "request", expectation, request, response }
    : OTHER;
}

function isRequest(value: unknown): value is IncomingMessage {
  return value instanceof IncomingMessage;
}

function isResponse(value: unknown): value is ServerResponse {
  return value instanceof ServerResponse;
}
