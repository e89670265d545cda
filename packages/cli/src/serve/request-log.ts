import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "@petstore/core";
import type { Logger } from "pino";
import { requestIdOf } from "./request-id.js";
import type { Watcher } from "./requests.js";

/** What looks like an API key, wherever a client has put it. */
const SECRET = /pet_live_[0-9A-Za-z]*/g;

/**
 * Logs a line for every request when its answer is sent, or its client has gone: never a header, a
 * query or a body, and nothing that looks like a key.
 */
export function createRequestLog(logger: Logger): Watcher {
  return (request, response) => {
    const began = systemClock.now();
    response.once("close", () => {
      logger.info(lineOf(request, response, systemClock.now() - began), "request");
    });
  };
}

function lineOf(
  request: IncomingMessage,
  response: ServerResponse,
  milliseconds: number,
): Record<string, unknown> {
  const [path = ""] = (request.url ?? "").split("?");
  return {
    requestId: requestIdOf(response),
    method: request.method,
    path: path.replace(SECRET, "pet_live_…"),
    // No status was sent to a client that went away before.
    status: response.headersSent ? response.statusCode : null,
    milliseconds,
    origin: request.socket.remoteAddress ?? null,
    aborted: !response.writableFinished,
  };
}
