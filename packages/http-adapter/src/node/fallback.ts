import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerSettings } from "../options.js";
import { createReports } from "../report.js";
import { connectionOf } from "./connection.js";
import type { Expectation } from "./message.js";
import type { RefuseUnread } from "./unread.js";

/** Responds to the requests of a server of ours outside the base path. */
export type Fallback = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A request for the fallback. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly expectation: Expectation;
}

/** Calls the fallback. `fail` responds for it when it throws, `refuseUnread` when the body breaks off. */
export function createFallback(
  fallback: Fallback,
  { onError, onResponse, requestIdOf, clock }: ServerSettings,
  refuseUnread: RefuseUnread,
  isDraining: () => boolean,
): (exchange: Exchange, fail: () => void) => void {
  const startReport = createReports(onResponse, clock);

  return ({ request, response, expectation }, fail) => {
    const { socket } = request;
    const connection = connectionOf(socket);
    const report = startReport();
    const requestId = requestIdOf(request.headers["x-request-id"]);
    const over = (): void => {
      connection.onInterruption = undefined;
      const status = response.headersSent ? response.statusCode : undefined;
      report?.({ operation: undefined, status, code: undefined, keyId: undefined, requestId });
    };
    async function call(): Promise<void> {
      try {
        await fallback(request, response);
      } catch (cause) {
        onError(cause);
        if (response.headersSent || response.destroyed) {
          response.destroy();
          return;
        }
        response.off("close", over);
        fail();
      }
    }

    response.once("close", over);
    connection.onInterruption = (reason) => {
      if (request.complete || response.headersSent) return;
      response.off("close", over).detachSocket(socket);
      refuseUnread(reason, socket);
    };
    if (connection.interruption !== undefined && !request.complete) {
      connection.onInterruption(connection.interruption);
      return;
    }
    response.setHeader("X-Request-Id", requestId);
    if (isDraining()) response.setHeader("Connection", "close");
    if (expectation === "continue") response.writeContinue();
    void call();
  };
}
