import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "@petstore/core";
import type { Logger } from "pino";
import type { RequestIds } from "./request-id.js";
import { whenOver, type Watcher } from "./requests.js";

/** What looks like an API key, wherever a client has put it. */
const SECRET = /pet_live_[0-9A-Za-z]*/g;

/**
 * Logs a line for every request when its answer is sent, or its client has gone: never a header, a
 * query or a body, and nothing that looks like a key.
 */
export function createRequestLog(logger: Logger, idOf: RequestIds): Watcher {
  return (request, response) => {
    const began = systemClock.now();
    whenOver(response, () => {
      const line = lineOf(request, response, systemClock.now() - began);
      logger.info({ requestId: idOf(request), ...line }, "request");
    });
  };
}

function pathOf(target: string): string {
  return decode(target.replace(/\?.*$/s, "")).replace(SECRET, "pet_live_…");
}

/** Decodes until nothing changes: no spelling is to carry a key past the eye that looks for it. */
function decode(path: string): string {
  try {
    const decoded = decodeURIComponent(path);
    return decoded === path ? path : decode(decoded);
  } catch {
    return path.replace(/%/g, "");
  }
}

function lineOf(
  request: IncomingMessage,
  response: ServerResponse,
  milliseconds: number,
): Record<string, unknown> {
  // A message that could not be read has neither.
  const { method, url } = request;
  return {
    method: method ?? null,
    path: url === undefined || url === "" ? null : pathOf(url),
    // No status was sent to a client that went away before.
    status: response.headersSent ? response.statusCode : null,
    milliseconds,
    origin: request.socket.remoteAddress ?? null,
    aborted: !response.writableFinished,
  };
}
