import type { Quota } from "@petstore/core";
import { byBinding, eachWindow, isOptional, onlyLimited, windowNames } from "@petstore/core/facts";
import type { WindowName, WindowQuota } from "@petstore/core/facts";
import { readCount, readDate, readMember, readParameter, readSeconds } from "./fields.js";

/** The status and the headers of a response. Durations are in milliseconds. */
export interface Head {
  readonly status: number;
  readonly requestId: string | undefined;
  /** `X-RateLimit-*`; `undefined` if a header is missing or malformed. */
  readonly quota: Quota | undefined;
  /** How long the window of the quota still lasts, by the server's clock. */
  readonly resetIn: number;
  /** `Retry-After`; `undefined` if it is missing or malformed. */
  readonly retryAfter: number | undefined;
  /** `Sunset`, of a deprecated operation; `""` if it has no date yet. */
  readonly sunset: string | undefined;
  readonly replayed: boolean;
  readonly link: string;
}

/** Reads the head of a response that arrived at this time. Nothing in it is trusted. */
export function readHead({ status, headers }: Response, now: number): Head {
  // Without a Date, the server's clock is taken to be the client's, as it is in a test.
  const serverNow = readDate(headers.get("Date")) ?? now;
  const quota = readQuota(headers);
  return {
    status,
    requestId: headers.get("X-Request-Id") ?? undefined,
    quota,
    resetIn: (quota?.resetAt ?? 0) - serverNow,
    retryAfter: readRetryAfter(headers.get("Retry-After"), serverNow),
    sunset: headers.has("Deprecation") ? (headers.get("Sunset") ?? "") : undefined,
    replayed: headers.get("Idempotent-Replayed") === "true",
    link: headers.get("Link") ?? "",
  };
}

function readQuota(headers: Headers): Quota | undefined {
  const limit = readCount(headers.get("X-RateLimit-Limit"));
  const remaining = readCount(headers.get("X-RateLimit-Remaining"));
  const reset = readSeconds(headers.get("X-RateLimit-Reset"));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const binding = { limit, remaining, resetAt: reset * 1_000 };
  return { ...binding, ...readWindows(headers, binding) };
}

/** Reads the fields of the draft (`rateLimitFields`). Without them, each window shows the one that binds. */
function readWindows(headers: Headers, binding: WindowQuota): Pick<Quota, WindowName | "window"> {
  const policy = headers.get("RateLimit-Policy") ?? "";
  const left = headers.get("RateLimit") ?? "";
  const read = eachWindow((name) => readWindow(name, policy, left));
  const isComplete = windowNames.every((name) => read[name] ?? isOptional(name));
  if (!isComplete) return eachWindow(() => binding);
  const fromNow = eachWindow((name) => read[name] ?? UNLIMITED);
  const window = windowNames.reduce((one, other) =>
    orderOf(fromNow[one], fromNow[other], binding) < 0 ? one : other,
  );
  // The fields have the seconds until each window ends; X-RateLimit-Reset has the time when the binding one ends.
  const now = binding.resetAt - fromNow[window].resetAt;
  const quotas = eachWindow((name) => ({ ...fromNow[name], resetAt: now + fromNow[name].resetAt }));
  return { window, ...onlyLimited(quotas) };
}

const UNLIMITED: WindowQuota = { limit: Infinity, remaining: Infinity, resetAt: 0 };

function orderOf(one: WindowQuota, other: WindowQuota, { limit }: WindowQuota): number {
  // During a ban, all are alike but for their limits.
  return byBinding(one, other) || Number(one.limit !== limit) - Number(other.limit !== limit);
}

/** Returns the quota of a window in the fields; its `resetAt` is in milliseconds from the response on. */
function readWindow(name: WindowName, policy: string, left: string): WindowQuota | undefined {
  const state = readMember(left, name) ?? "";
  const limit = readCount(readParameter(readMember(policy, name) ?? "", "q"));
  const remaining = readCount(readParameter(state, "r"));
  const seconds = readSeconds(readParameter(state, "t"));
  if (limit === undefined || remaining === undefined || seconds === undefined) return undefined;
  return { limit, remaining, resetAt: seconds * 1_000 };
}

/** RFC 9110, section 10.2.3: seconds or a date. Of several seconds, the longest count. */
function readRetryAfter(text: string | null, serverNow: number): number | undefined {
  const seconds = (text ?? "").split(",").map((each) => readSeconds(each.trim()));
  if (seconds.every((each) => each !== undefined)) return Math.max(...seconds) * 1_000;
  const date = readDate(text);
  return date === undefined ? undefined : Math.max(0, date - serverNow);
}
