import type { Clock } from "@petstore/core";
import type { OperationName } from "./route.js";
import type { Failure } from "./status.js";

/** What `onResponse` is told about a request. */
export interface ResponseReport {
  /** The operation, if the path and the method name one. */
  readonly operation: OperationName | undefined;
  /** The status that was sent; `undefined` if the client had gone before. */
  readonly status: number | undefined;
  /** The code of the Error body, if it is one. */
  readonly code: Failure["code"] | undefined;
  /** The id of the API key, if the request was admitted. */
  readonly keyId: string | undefined;
  /** From the arrival of the request to the end of its response. */
  readonly milliseconds: number;
  /** The `X-Request-Id` of the response, if it has one. */
  readonly requestId: string | undefined;
}

/** Reports a request once; everything but the time. */
export type Report = (facts: Omit<ResponseReport, "milliseconds">) => void;

/** Returns a function that starts the clock for a request and returns its report. */
export function createReports(
  onResponse: ((report: ResponseReport) => void) | undefined,
  clock: Clock,
): () => Report | undefined {
  if (onResponse === undefined) return () => undefined;
  return () => {
    const start = clock.now();
    return (facts) => onResponse({ ...facts, milliseconds: clock.now() - start });
  };
}
