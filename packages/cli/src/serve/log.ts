import type { Writable } from "node:stream";
import type { Clock } from "@petstore/core";
import type { ResponseReport } from "@petstore/http-adapter";
import { describeUnknownError } from "../describe-error.js";
import type { ReportError } from "../terminal.js";

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

/** Reports errors of requests, but not one line for each request. */
export interface ErrorLog {
  /** Reports an error, unless one like it was reported within the last ten seconds. */
  readonly add: (error: unknown) => void;
  /** Reports how many errors were not reported. */
  readonly end: () => void;
}

/** How long to count errors of one kind after a line about them, in milliseconds. */
const INTERVAL = 10_000;

/** Errors of one kind since the last line about them. */
interface Kind {
  count: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Creates the log of failed requests. Errors with the same message are of one kind. The first one is
 * reported at once, and after it a count of the others every ten seconds.
 */
export function createErrorLog(report: ReportError): ErrorLog {
  const kinds = new Map<string, Kind>();

  const reportCount = (message: string, { count }: Kind): void => {
    if (count > 0) report(`${message} (${count} more)`);
  };
  const watch = (message: string): void => {
    const timer = setTimeout(() => {
      kinds.delete(message);
      reportCount(message, kind);
      if (kind.count > 0) watch(message);
    }, INTERVAL).unref();
    const kind: Kind = { count: 0, timer };
    kinds.set(message, kind);
  };

  return {
    add: (error) => {
      const [message = ""] = describeUnknownError(error).split("\n", 1);
      const kind = kinds.get(message);
      if (kind !== undefined) {
        kind.count += 1;
        return;
      }
      report(describeUnknownError(error));
      watch(message);
    },
    end: () => {
      for (const [message, kind] of kinds) {
        clearTimeout(kind.timer);
        reportCount(message, kind);
      }
      kinds.clear();
    },
  };
}
