import type { AdmissionError, Quota, WithQuota } from "@petstore/core";
import { count, type CodedError } from "@petstore/core/facts";

/** No connection, or it ended before the response did; `cause` is what `fetch` reported. A pet may have been created. */
type UnreachableError = CodedError<"unreachable"> & { readonly cause: unknown };

/** The time for an attempt, or for the whole call, ran out. A pet may have been created. */
export type TimedOutError = CodedError<"timed_out">;

/** The caller's signal ended the call; `cause` is its reason. A pet may have been created. */
export type AbortedError = CodedError<"aborted"> & { readonly cause: unknown };

/** The response is not one that the operation has, such as a proxy's HTML or a 413. A pet may have been created. */
export type UnexpectedResponseError = CodedError<"unexpected_response"> & {
  /** The HTTP status; 0 where the runtime hides it, as browsers do for a redirect. */
  readonly status: number;
  /** The response's `X-Request-Id`, by which the operator finds it in the log. */
  readonly requestId: string | undefined;
};

/** The errors that a remote client adds to those of a caller in process. A union closed on `code`. */
export type TransportError =
  UnreachableError | TimedOutError | AbortedError | UnexpectedResponseError;

export type LimitError = Extract<AdmissionError, { readonly retryAfterSeconds: number }>;

export function isLimitError(error: { readonly code: string }): error is WithQuota<LimitError> {
  return "retryAfterSeconds" in error;
}

export const unreachable = (cause: unknown): UnreachableError => ({
  code: "unreachable",
  message: "The server cannot be reached, or the connection ended early.",
  cause,
});

export const timedOut = (what: string, seconds: number): TimedOutError => ({
  code: "timed_out",
  message: `The ${what} did not end within ${count(seconds, "second")}.`,
});

export const aborted = (cause: unknown): AbortedError => ({
  code: "aborted",
  message: "The caller's signal ended the call.",
  cause,
});

/** `problem` is a sentence. */
export const unexpectedResponse = (
  problem: string,
  status: number,
  requestId: string | undefined,
): UnexpectedResponseError => ({
  code: "unexpected_response",
  message: `The response with status ${status} is not one of this operation. ${problem}`,
  status,
  requestId,
});

/** The client's own refusal: the last response said that nothing is left. */
export const limitUsedUp = (quota: Quota): WithQuota<LimitError> => ({
  code: "rate_limit_exceeded",
  message: `The limit of ${quota.limit} requests is used up; come back in 1 second.`,
  window: quota.window,
  retryAfterSeconds: 1,
  quota,
});

/** Returns a refusal as it is to be repeated when this many seconds are left. */
export function withSeconds<E extends { readonly message: string }>(
  refusal: E,
  retryAfterSeconds: number,
): E {
  const left = count(retryAfterSeconds, "second");
  const message = refusal.message.replace(/(?<!\d)\d+ seconds?\.$/, `${left}.`);
  return { ...refusal, message, retryAfterSeconds };
}
