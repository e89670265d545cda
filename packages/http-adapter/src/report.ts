import { systemRandom, type Clock } from "@petstore/core";
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

/** Sends the report of one request, and adds the time to it. To be called once. */
export type SendReport = (facts: Omit<ResponseReport, "milliseconds">) => void;

/**
 * Creates a function to be called when a request arrives. It starts the time of the request and
 * returns the function that sends its report, or `undefined` if there is no `onResponse`.
 */
export function createReports(
  onResponse: ((report: ResponseReport) => void) | undefined,
  clock: Clock,
): () => SendReport | undefined {
  if (onResponse === undefined) return () => undefined;
  return () => {
    const start = clock.now();
    return (facts) => onResponse({ ...facts, milliseconds: clock.now() - start });
  };
}

/** Returns the id of a request: the client's own if it is safe to repeat, otherwise a new one. */
export type RequestIds = (sent: string | readonly string[] | null | undefined) => string;

/** Ids that are safe to repeat in a response and a log. An API key is not, nor one in upper case or cut. */
const SAFE = /^(?!.*live_)[\w.:=+/-]{1,128}$/i;

const RANDOM_BYTES = 12;
/** The length of an id, in characters of base64url. */
const LENGTH = 16;
/** How many ids are drawn at once. Drawn one by one, each would cost 6 microseconds instead of 0.1. */
const DRAWN = 256;

export function createRequestIds(): RequestIds {
  let drawn = "";
  let at = 0;
  return (sent) => {
    if (typeof sent === "string" && SAFE.test(sent)) return sent;
    if (at === drawn.length) {
      drawn = Buffer.from(systemRandom(DRAWN * RANDOM_BYTES)).toString("base64url");
      at = 0;
    }
    at += LENGTH;
    return drawn.slice(at - LENGTH, at);
  };
}
