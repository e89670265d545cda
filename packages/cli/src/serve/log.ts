import type { Writable } from "node:stream";
import type { Clock } from "@petstore/core";
import type { ResponseReport } from "@petstore/http-adapter";

/** The maximum size of the unread log, in bytes. */
const MAX_BUFFERED = 16_777_216;

/** The level, time and message have pino's format, so that its tools can read the log. */
const INFO = 30;

/**
 * Writes a line of JSON for each response; an unknown value is `null`. Requests do not wait for their
 * lines: a line is lost if the stream fails or its reader is too slow.
 */
export function createRequestLog(stream: Writable, clock: Clock): (report: ResponseReport) => void {
  return ({ requestId, operation, keyId, status, code, milliseconds }) => {
    if (stream.writableLength >= MAX_BUFFERED) return;
    const line = {
      level: INFO,
      time: clock.now(),
      requestId: requestId ?? null,
      operation: operation ?? null,
      keyId: keyId ?? null,
      status: status ?? null,
      code: code ?? null,
      milliseconds,
      msg: "request",
    };
    stream.write(`${JSON.stringify(line)}\n`);
  };
}
