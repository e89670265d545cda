import type { OperationName } from "@petstore/core/facts";

/** An event of a client. A union closed on `type`; no event contains an API key. */
export type ClientEvent =
  RequestSent | ResponseReceived | CallWaiting | CallRetrying | DeprecatedOperationUsed;

interface EventOf<Type extends string> {
  readonly type: Type;
  readonly operation: OperationName;
}

/** A request is sent. */
interface RequestSent extends EventOf<"request"> {
  /** 1 for the first attempt. A request after a 429 belongs to the same attempt. */
  readonly attempt: number;
}

/** A request has ended. */
interface ResponseReceived extends EventOf<"response"> {
  readonly attempt: number;
  /** The HTTP status; `undefined` without a response. */
  readonly status: number | undefined;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string | undefined;
  readonly milliseconds: number;
}

/** A call waits for the gate. */
interface CallWaiting extends EventOf<"waiting"> {
  /** Until the gate opens; 0 if the call waits for the end of another one. */
  readonly seconds: number;
}

/** A call will send its request again. */
interface CallRetrying extends EventOf<"retrying"> {
  /** The attempt that failed. */
  readonly attempt: number;
  /** The code of its error. */
  readonly code: string;
  readonly seconds: number;
}

/** A response said that the operation is deprecated. */
interface DeprecatedOperationUsed extends EventOf<"deprecated_operation_used"> {
  /** When it is to be removed: the `Sunset` of the response (RFC 8594); `""` if it has none. */
  readonly sunset: string;
}
