import type { Writable } from "node:stream";
import type { Clock } from "@petstore/core";
import type { ResponseReport } from "@petstore/http-adapter";

/** How much of the log may wait for its reader, in bytes. */
const MAX_BUFFERED = 16_777_216;

/** Level, time and message as pino writes them, so that its tools read the log. */
const INFO = 30;

/**
 * Writes a line of JSON for each response; a value that is not known is `null`. A line is lost when the
 * stream fails or its reader is too slow: no request waits for its line.
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
