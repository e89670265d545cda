import { systemUuid, type Clock } from "@petstore/core";
import type { Failure } from "./error.js";
import type { OperationName } from "./route.js";

/** The report that `onResponse` receives. */
export interface ResponseReport {
  /** The operation; `undefined` if the path and the method name none. */
  readonly operation: OperationName | undefined;
  /** The status that was sent; `undefined` if the client disconnected before. */
  readonly status: number | undefined;
  /** The code of the Error body; `undefined` if the body is not an Error of the store. */
  readonly code: Failure["code"] | undefined;
  /** The id of the API key; `undefined` if the request was not admitted. */
  readonly keyId: string | undefined;
  /** From the arrival of the request to the end of its response. */
  readonly milliseconds: number;
  /** The `X-Request-Id` of the response; `undefined` if it has none. */
  readonly requestId: string | undefined;
}

/** The part of a report that is known when the request is handled. */
export type Outcome = Pick<ResponseReport, "operation" | "code" | "keyId">;

/** The id of one request, and its report. */
export interface Report {
  /** The id for `X-Request-Id`; `undefined` if responses have none. */
  readonly requestId: string | undefined;
  /** Sends the report. To be called once. `undefined` if there is no `onResponse`. */
  readonly send: ((outcome: Outcome, status: number | undefined) => void) | undefined;
}

/** To be called when a request arrives, with the `X-Request-Id` that the client sent. */
export type StartReport = (sentId: string | readonly string[] | null | undefined) => Report;

/** Creates the function that starts the report of each request. */
export function createReports(
  onResponse: ((report: ResponseReport) => void) | undefined,
  hasRequestIds: boolean,
  clock: Clock,
): StartReport {
  return (sentId) => {
    const requestId = hasRequestIds ? requestIdOf(sentId) : undefined;
    if (onResponse === undefined) return { requestId, send: undefined };
    const start = clock.now();
    return {
      requestId,
      send: ({ operation, code, keyId }, status) => {
        const milliseconds = clock.now() - start;
        onResponse({ operation, status, code, keyId, milliseconds, requestId });
      },
    };
  };
}

/** Matches ids that are safe to repeat in a response and a log. An API key does not match, even cut or in capitals. */
const SAFE = /^(?!.*live_)[\w.:=+/-]{1,128}$/i;

/** Returns the id of a request: the client's own if it is safe to repeat, otherwise a new one. */
function requestIdOf(sentId: Parameters<StartReport>[0]): string {
  return typeof sentId === "string" && SAFE.test(sentId) ? sentId : systemUuid();
}
