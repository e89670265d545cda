import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "@petstore/core";
import type { LogLine } from "./log.js";
import type { RequestIds } from "./request-id.js";
import { whenOver, type Watcher } from "./requests.js";

/** What looks like an API key, wherever a client has put it. */
const SECRET = /pet_live_[0-9A-Za-z]*/g;

/**
 * Logs a line for every request when its answer is sent, or its client has gone: never a header, a
 * query or a body, and nothing that looks like a key.
 */
export function createRequestLog(logger: (line: LogLine) => void, idOf: RequestIds): Watcher {
  return (request, response) => {
    const began = systemClock.now();
    whenOver(response, () => {
      const line = lineOf(request, response, systemClock.now() - began);
      logger({ requestId: idOf(request), ...line });
    });
  };
}

/** How much of a path is logged, in characters, and so how long at most it takes to look through it. */
const LONGEST_PATH = 512;

/** How often a path is decoded: who encodes a key more often than this is logged up to there. */
const MOST_ROUNDS = 4;

const ESCAPED_ASCII = /%([0-7][0-9a-f])/gi;

function pathOf(target: string): string {
  const path = target.replace(/\?.*$/s, "");
  return readableStart(path, LONGEST_PATH).replace(SECRET, "pet_live_…");
}

/** Its start, decoded so far that no spelling carries a key past the eye that looks for it. */
function readableStart(path: string, length: number): string {
  let start = path.slice(0, length);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    start = start.replace(ESCAPED_ASCII, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  const readable = start.split(ESCAPED_ASCII, 1)[0] ?? "";
  return readable.length < start.length || path.length > length ? `${readable}…` : readable;
}

function lineOf(request: IncomingMessage, response: ServerResponse, milliseconds: number): LogLine {
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
