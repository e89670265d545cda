import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpRequest } from "../http-message.js";
import { expectationFailed } from "../refusal.js";
import { readNodeBody } from "./body.js";
import { flawOf } from "./flaw.js";
import { headerLines } from "./header-lines.js";
import { NO_INTERRUPTION, watchInterruption } from "./interruption.js";
import type { Closing } from "./write.js";

/**
 * What the client expects before it sends the body (RFC 9110, section 10.1.1): nothing, or nothing
 * any more; `100 Continue`, not sent yet; something that we do not know.
 */
export type Expectation = "none" | "continue" | "unknown";

/** A request of Node's as the neutral core sees it. */
export interface NodeRequest extends HttpRequest {
  /** When the connection must be closed after the answer, as things stand. */
  closing(): Closing;
}

/** What a host has made of a request that the store answers. */
export interface HostView {
  /** Tells callers without a valid key apart. */
  readonly origin: string | undefined;
  /** What a body parser left, where one was first. */
  readonly body: unknown;
}

/** What is known of a request beside itself. */
export interface Circumstances {
  readonly expectation: Expectation;
  readonly view: HostView;
  readonly maxBodySeconds: number;
}

/** Shows a request of Node's to the neutral core. */
export function toHttpRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { expectation, view, maxBodySeconds }: Circumstances,
): NodeRequest {
  const flaw = flawOf(request);
  const interruption = hasBody(request) ? watchInterruption(request) : NO_INTERRUPTION;
  let isWaiting = expectation !== "none";
  let isRead = false;
  return {
    method: request.method ?? "",
    origin: view.origin,
    flaw: flaw ?? (isMet(expectation, request) ? undefined : expectationFailed()),
    connection: request.socket,
    lines: (name) => headerLines(request.rawHeaders, name),
    readBody: (limit) => {
      if (isWaiting) response.writeContinue();
      isWaiting = false;
      isRead = true;
      return readNodeBody(request, limit, maxBodySeconds, interruption, view.body);
    },
    closing: () => {
      // What follows a request with "Upgrade" in the same packet is lost to Node's parser.
      if (flaw !== undefined || request.headers.upgrade !== undefined) return "always";
      const isBroken = isRead || interruption.reason() !== undefined;
      return isWaiting || isBroken ? "if-unread" : "if-long";
    },
  };
}

/** RFC 9112, section 6.3. What has no body is whole with its header. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || headers["content-length"] !== undefined;
}

/** Node takes a list of expectations that has 100-continue in it for that alone. */
function isMet(expectation: Expectation, { headers }: IncomingMessage): boolean {
  if (expectation === "continue") return headers.expect?.trim().toLowerCase() === "100-continue";
  return expectation === "none";
}
