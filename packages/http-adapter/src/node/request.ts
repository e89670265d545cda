import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpRequest } from "../http-message.js";
import { expectationFailed } from "../refusal.js";
import { readNodeBody } from "./body.js";
import { flawOf } from "./flaw.js";
import { headerLines } from "./header-lines.js";

/**
 * What the client expects before it sends the body (RFC 9110, section 10.1.1): nothing, or nothing
 * any more; `100 Continue`, not sent yet; something that we do not know.
 */
export type Expectation = "none" | "continue" | "unknown";

/** A request of Node's as the neutral core sees it. */
export interface NodeRequest extends HttpRequest {
  /** Whether the client may still be waiting with its body for an answer to its expectation. */
  isWaiting(): boolean;
}

/** Shows a request of Node's to the neutral core. */
export function toHttpRequest(
  request: IncomingMessage,
  response: ServerResponse,
  expectation: Expectation,
  origin: string | undefined,
): NodeRequest {
  let isWaiting = expectation !== "none";
  return {
    method: request.method ?? "",
    origin,
    flaw: expectation === "unknown" ? expectationFailed() : flawOf(request),
    lines: (name) => headerLines(request.rawHeaders, name),
    readBody: (limit) => {
      if (isWaiting) response.writeContinue();
      isWaiting = false;
      return readNodeBody(request, limit);
    },
    isWaiting: () => isWaiting,
  };
}
