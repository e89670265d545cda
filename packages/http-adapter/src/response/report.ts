import type { Clock, Signals } from "@petstore/core";
import { operations } from "@petstore/core/facts";
import { signalChannel, systemUuid, type RequestSignal } from "@petstore/core/internal";
import type { ResponseError } from "../error.js";

/** The report that `onResponse` receives. */
export interface ResponseReport extends Pick<
  Signals["petstore:request"],
  "operation" | "status" | "milliseconds"
> {
  /** The code of the Error body; `undefined` if the body is not an Error of the store. */
  readonly code: ResponseError["code"] | undefined;
  /** The id of the API key; `undefined` if the request was not admitted. */
  readonly keyId: string | undefined;
  /** The `X-Request-Id` of the response; `undefined` if it has none. */
  readonly requestId: string | undefined;
}

/** The part of a report that is known when the request is handled. */
export type PartialReport = Partial<
  Pick<ResponseReport, "operation" | "code" | "keyId"> & Pick<RequestSignal, "plan" | "window">
>;

export interface Report {
  /** The id for `X-Request-Id`; `undefined` if responses have none. */
  readonly requestId: string | undefined;
  /** Sends the report and the signal. To be called once. `undefined` if they have no receiver. */
  readonly send?: (part: PartialReport, status: number | undefined) => void;
}

/** Creates the function to call when a request arrives, with the `X-Request-Id` and the method that the client sent. */
export function createReports(
  onResponse: ((report: ResponseReport) => void) | undefined,
  hasRequestIds: boolean,
  clock: Clock,
  basePath: string,
) {
  const requests = signalChannel("petstore:request");
  return (sentId: SentId, sentMethod = ""): Report => {
    const requestId = hasRequestIds ? requestIdOf(sentId) : undefined;
    if (onResponse === undefined && !requests.hasSubscribers) return { requestId };
    const start = clock.now();
    return {
      requestId,
      send: ({ operation, code, keyId, plan, window }, status) => {
        const milliseconds = clock.now() - start;
        onResponse?.({ operation, status, code, keyId, milliseconds, requestId });
        if (!requests.hasSubscribers) return;
        const route = operation && `${basePath}${operations[operation].path}`;
        const method = KNOWN_METHODS.has(sentMethod) ? sentMethod : "_OTHER";
        requests.publish({ operation, route, method, status, code, plan, window, milliseconds });
      },
    };
  };
}

/** The methods of RFC 9110, section 9, and RFC 5789. Clients may send any others. */
const KNOWN_METHODS = new Set("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT".split(" "));

/** Matches ids that are safe to repeat in a response and a log. An API key does not match, even cut or in capitals. */
const SAFE = /^(?!.*(?<![a-z\d])live_)[\w.:=+/-]{1,128}$/i;

type SentId = string | readonly string[] | null | undefined;

function requestIdOf(sentId: SentId): string {
  return typeof sentId === "string" && SAFE.test(sentId) ? sentId : systemUuid();
}
