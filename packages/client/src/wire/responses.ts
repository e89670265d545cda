import type { AdmissionError, Charged, Quota, WithQuota } from "@petstore/core";
import { eachWindow, ownField as field, toInt64, type CodedError } from "@petstore/core/facts";
import { mayRound, parseExactly } from "@petstore/wire";
import { err, ok, type Result } from "neverthrow";
import { unexpectedResponse, type TransportError } from "../errors.js";
import type { Head } from "./head.js";

export interface CompleteResponse {
  readonly head: Head;
  readonly body: string;
}

/** Why a call fails; `Code` is of the operation's own errors. */
export type CallError<Code extends string> =
  WithQuota<CodedError<Code> | AdmissionError> | TransportError;

export type RemoteResult<T, Code extends string> = Result<T & Charged, CallError<Code>>;

export function readResponse<T extends object, Code extends string>(
  { head, body }: CompleteResponse,
  { success, errors }: { readonly success: number; readonly errors: OwnErrors<Code> },
  readResult: (value: unknown, head: Head) => T | undefined,
): RemoteResult<T, Code> {
  const { status, quota = UNKNOWN_QUOTA, requestId } = head;
  const unexpected = (problem: string) => err(unexpectedResponse(problem, status, requestId));
  const value = status === success && success === 204 ? null : tryToParse(body);
  if (value === undefined) return unexpected("It is not JSON.");
  if (status === success) {
    const result = readResult(value, head);
    if (result === undefined) return unexpected(MALFORMED);
    return ok({ ...result, quota });
  }
  return err(readError(value, head, errors));
}

export const MALFORMED = "Its body or its Link is malformed.";

function tryToParse(body: string): unknown {
  try {
    // First as it is: `parseExactly` takes valid JSON.
    const value: unknown = JSON.parse(body);
    return mayRound(body) ? parseExactly(body) : value;
  } catch {
    return undefined;
  }
}

/** The quota where something has removed its headers: a stored pet is no error because of that. */
const UNKNOWN_WINDOW = { limit: Infinity, remaining: Infinity, resetAt: 0 };
const UNKNOWN_QUOTA: Quota = { ...UNKNOWN_WINDOW, ...eachWindow(() => UNKNOWN_WINDOW) };

function readError<Code extends string>(
  value: unknown,
  { status, quota = UNKNOWN_QUOTA, requestId, retryAfter = 0 }: Head,
  errors: OwnErrors<Code>,
): CallError<Code> {
  const code = field(value, "code");
  const message = field(value, "message");
  const isStatus = toInt64(field(value, "status")) === BigInt(status);
  if (typeof code !== "string" || typeof message !== "string" || !isStatus) {
    return unexpectedResponse("It is not an Error of the pet store.", status, requestId);
  }
  if (isOwn(code, errors)) return { code, message, quota };
  const retryAfterSeconds = Math.ceil(retryAfter / 1_000);
  const unexpected = unexpectedResponse(`${code}: ${message}`, status, requestId);
  if (!isOwn(code, admissionCodes)) return unexpected;
  switch (code) {
    case "missing_api_key":
    case "invalid_api_key":
    case "store_closed": {
      const error: WithQuota<AdmissionError> = { code, message, quota };
      return error;
    }
    case "storage_unavailable":
      return { code, message, quota, cause: undefined };
    case "rate_limit_exceeded":
    case "api_key_banned":
      if (status !== 429) return unexpected;
      return code === "api_key_banned"
        ? { code, message, quota, retryAfterSeconds }
        : { code, message, quota, window: quota.window, retryAfterSeconds };
  }
}

const admissionCodes: OwnErrors<AdmissionError["code"]> = {
  missing_api_key: true,
  invalid_api_key: true,
  store_closed: true,
  storage_unavailable: true,
  rate_limit_exceeded: true,
  api_key_banned: true,
};

type OwnErrors<Code extends string> = Readonly<Record<Code, true>>;

function isOwn<Code extends string>(code: string, errors: OwnErrors<Code>): code is Code {
  return Object.hasOwn(errors, code);
}
