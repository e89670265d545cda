import type { ClockReading } from "../clock.js";
import { afterRefusal, bannedUntil, rememberedBans, type BanRule } from "./ban.js";
import type { RateLimits } from "./plan.js";
import { usedAt, type Usage } from "./usage.js";
import {
  bindingWindow,
  currentWindow,
  DAY,
  MINUTE,
  quotaOf,
  withBinding,
  type Quota,
  type Window,
  type WindowQuotas,
} from "./window.js";

/** The limits of a request. */
export interface LimitRules {
  readonly limits: RateLimits;
  /** `undefined`: keys are never banned. */
  readonly ban: BanRule | undefined;
}

/** Whether a request is admitted, and the quota after it. */
export type Verdict = { readonly kind: "admitted"; readonly quota: Quota } | Refusal;

/** The request is refused until `until`, in milliseconds since the Unix epoch. */
export type Refusal =
  | {
      readonly kind: "refused";
      readonly quota: Quota;
      readonly until: number;
      readonly window: "minute" | "day";
    }
  | {
      readonly kind: "banned";
      readonly quota: Quota;
      readonly until: number;
      /** When the ban ends; `until` is later if a window is used up for longer. */
      readonly banEnd: number;
      /** Whether the ban began with this request. */
      readonly begins: boolean;
    };

/** The outcome of a request: the usage after it, and the verdict. */
export interface ChargeOutcome {
  /** The usage that was passed in, if there is nothing to store. */
  readonly usage: Usage;
  readonly verdict: Verdict;
}

/**
 * Decides one request: it takes a token from both the minute and the day bucket, or from neither. The
 * first request opens a bucket's window; when the window ends, the bucket gets all its tokens back. A
 * refused request takes no token, and too many refusals in a row ban the key. Requests during a ban are
 * not counted, so that every ban ends by itself.
 */
export function charge(stored: Usage, rules: LimitRules, reading: ClockReading): ChargeOutcome {
  const { limits, ban } = rules;
  const usage = ban === undefined ? stored : rememberedBans(stored, ban, reading);
  const windows = currentWindows(usage, reading);

  const banEnd = ban === undefined ? undefined : bannedUntil(usage, ban, reading.now);
  if (banEnd !== undefined) {
    return {
      usage: withWindows(usage, windows),
      verdict: banned(banEnd, false, windows, limits),
    };
  }
  if (windows.minute.used < limits.perMinute && windows.day.used < limits.perDay) {
    return admitted(usage, windows, limits, reading.now);
  }
  const current = withWindows(usage, windows);
  if (ban === undefined) return { usage: current, verdict: refused(windows, limits) };
  const next = afterRefusal(current, ban, limits, reading);
  const until = bannedUntil(next, ban, reading.now);
  return {
    usage: next,
    verdict: until === undefined ? refused(windows, limits) : banned(until, true, windows, limits),
  };
}

/** What a usage means at this reading. */
export interface Standing {
  /** When the ban in force ends; `undefined` if there is none. */
  readonly bannedUntil: number | undefined;
  readonly quotas: WindowQuotas;
}

/** Returns what this usage means, without a request. */
export function standingOf(
  usage: Usage,
  { limits, ban }: LimitRules,
  reading: ClockReading,
): Standing {
  const windows = currentWindows(usage, reading);
  const banEnd = ban && bannedUntil(rememberedBans(usage, ban, reading), ban, reading.now);
  const quotas =
    banEnd === undefined
      ? quotasOf(windows, limits)
      : noQuotas(servedAt(banEnd, windows, limits), limits);
  return { bannedUntil: banEnd, quotas };
}

interface Windows {
  readonly minute: Window;
  readonly day: Window;
}

function currentWindows(usage: Usage, reading: ClockReading): Windows {
  const minute = { openedAt: usage.minuteOpenedAt, used: usage.minuteUsed };
  const day = { openedAt: usage.dayOpenedAt, used: usage.dayUsed };
  return {
    minute: currentWindow(minute, MINUTE, reading),
    day: currentWindow(day, DAY, reading),
  };
}

function quotasOf({ minute, day }: Windows, limits: RateLimits): WindowQuotas {
  return {
    minute: quotaOf(minute, MINUTE, limits.perMinute),
    day: quotaOf(day, DAY, limits.perDay),
  };
}

function admitted(
  usage: Usage,
  { minute, day }: Windows,
  limits: RateLimits,
  now: number,
): ChargeOutcome {
  const windows = {
    minute: { openedAt: minute.openedAt, used: minute.used + 1 },
    day: { openedAt: day.openedAt, used: day.used + 1 },
  };
  const quotas = quotasOf(windows, limits);
  return {
    usage: {
      minuteOpenedAt: windows.minute.openedAt,
      minuteUsed: windows.minute.used,
      dayOpenedAt: windows.day.openedAt,
      dayUsed: windows.day.used,
      refusedSince: 0,
      refusals: 0,
      bans: usage.bans,
      bannedAt: usage.bannedAt,
      lastUsedAt: usedAt(now),
    },
    verdict: { kind: "admitted", quota: withBinding(quotas, bindingWindow(quotas)) },
  };
}

function refused(windows: Windows, limits: RateLimits): Verdict {
  const quotas = quotasOf(windows, limits);
  const window = bindingWindow(quotas);
  const quota = withBinding(quotas, window);
  return { kind: "refused", quota, until: quota.resetAt, window };
}

/** A banned key has no quota until the ban ends, or until a used-up window ends, whichever is later. */
function banned(banEnd: number, begins: boolean, windows: Windows, limits: RateLimits): Verdict {
  const until = servedAt(banEnd, windows, limits);
  const binding = windows.day.used < limits.perDay ? "minute" : "day";
  const quota = withBinding(noQuotas(until, limits), binding);
  return { kind: "banned", quota, until, banEnd, begins };
}

/** Returns when a banned key is served again. */
function servedAt(banEnd: number, { minute, day }: Windows, limits: RateLimits): number {
  return Math.max(
    banEnd,
    minute.used < limits.perMinute ? 0 : minute.openedAt + MINUTE,
    day.used < limits.perDay ? 0 : day.openedAt + DAY,
  );
}

function noQuotas(until: number, { perMinute, perDay }: RateLimits): WindowQuotas {
  return {
    minute: { limit: perMinute, remaining: 0, resetAt: until },
    day: { limit: perDay, remaining: 0, resetAt: until },
  };
}

/**
 * Returns the usage with its current windows; the same object if neither has changed. A window that has
 * ended stays ended even if the clock is set back afterwards, because its end is stored.
 */
function withWindows(usage: Usage, { minute, day }: Windows): Usage {
  const isMinuteUnchanged = isUnchanged(minute, usage.minuteOpenedAt, usage.minuteUsed);
  const isDayUnchanged = isUnchanged(day, usage.dayOpenedAt, usage.dayUsed);
  if (isMinuteUnchanged && isDayUnchanged) return usage;
  return {
    ...usage,
    minuteOpenedAt: minute.openedAt,
    minuteUsed: minute.used,
    dayOpenedAt: day.openedAt,
    dayUsed: day.used,
  };
}

/** Whether a window is still the stored one; the start of an unused window does not matter. */
function isUnchanged(window: Window, openedAt: number, used: number): boolean {
  return used === 0 || window.openedAt === openedAt;
}
