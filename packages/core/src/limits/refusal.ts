import type { ApiKeyBanned, RateLimitExceeded } from "../errors.js";
import type { Refused } from "./charge.js";

/** Says why a request is turned away, and when to come back. */
export function refusalOf(verdict: Refused, now: number): RateLimitExceeded | ApiKeyBanned {
  const retryAfterSeconds = Math.max(1, Math.ceil((verdict.until - now) / 1_000));
  const comeBack = `come back in ${counted(retryAfterSeconds, "second")}`;
  if (verdict.kind === "banned") {
    return {
      code: "api_key_banned",
      message: `The API key kept sending after refusals and is banned for a while; ${comeBack}.`,
      retryAfterSeconds,
    };
  }
  return {
    code: "rate_limit_exceeded",
    message: `The limit of ${counted(verdict.quota.limit, "request")} per ${verdict.window} is used up; ${comeBack}.`,
    retryAfterSeconds,
  };
}

function counted(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? "" : "s"}`;
}
