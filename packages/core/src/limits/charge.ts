import { bannedUntil, isIgnoringRefusals, rememberedBans, type BanRule } from "./ban.js";
import type { RateLimits } from "./plan.js";
import type { Quota } from "./quota.js";
import type { Reading } from "./reading.js";
import type { Usage } from "./usage.js";
import { currentWindow, DAY, MINUTE, type Window } from "./window.js";

/** What a request is measured against. */
export interface Terms {
  readonly limits: RateLimits;
  /** `undefined`: nobody is banned. */
  readonly ban: BanRule | undefined;
}

/** The outcome of one request. */
export type Verdict = Admitted | Refused;

/** The request is served. */
export interface Admitted {
  readonly kind: "admitted";
  readonly quota: Quota;
}

/** The request is turned away until a time, in milliseconds since the Unix epoch. */
export type Refused =
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
      /** Whether the ban began with this request. */
      readonly begins: boolean;
    };

/** What a usage becomes, and what is said of it. */
export interface ChargeOutcome {
  /** The very usage given when there is nothing to store. */
  readonly usage: Usage;
  readonly verdict: Verdict;
}

/**
 * Decides one request: takes a token from the minute and the day bucket together, or from neither.
 * A bucket opens its window with the first request and gets all its tokens back when it ends. A
 * refused request takes nothing; too many of them in a row ban the key, and while it is banned
 * nothing is counted, so that silence and patience end every ban.
 */
export function charge(stored: Usage, terms: Terms, reading: Reading): ChargeOutcome {
  const { limits, ban } = terms;
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
    return admit(usage, windows, limits, reading.now);
  }
  const standing = withWindows(usage, windows);
  if (ban !== undefined && isIgnoringRefusals(usage, ban, limits)) {
    const next = { ...standing, refusals: 0, bans: usage.bans + 1, bannedAt: reading.now };
    const until = bannedUntil(next, ban, reading.now) ?? reading.now;
    return { usage: next, verdict: banned(until, true, windows, limits) };
  }
  return {
    usage: ban === undefined ? standing : { ...standing, refusals: usage.refusals + 1 },
    verdict: refused(windows, limits),
  };
}

/** What is left in each window at this reading, before any request. */
export function remainingQuotas(
  usage: Usage,
  limits: RateLimits,
  reading: Reading,
): { readonly minute: Quota; readonly day: Quota } {
  const { minute, day } = currentWindows(usage, reading);
  return {
    minute: quotaOf(minute, MINUTE, limits.perMinute),
    day: quotaOf(day, DAY, limits.perDay),
  };
}

/** The quota that binds: the fewest requests left; of equals, the one that resets later. */
export function bindingQuota(minute: Quota, day: Quota): Quota {
  if (minute.remaining !== day.remaining) return minute.remaining < day.remaining ? minute : day;
  return minute.resetAt > day.resetAt ? minute : day;
}

interface Windows {
  readonly minute: Window;
  readonly day: Window;
}

function currentWindows(usage: Usage, reading: Reading): Windows {
  return {
    minute: currentWindow(
      { openedAt: usage.minuteOpenedAt, used: usage.minuteUsed },
      MINUTE,
      reading,
    ),
    day: currentWindow({ openedAt: usage.dayOpenedAt, used: usage.dayUsed }, DAY, reading),
  };
}

function admit(usage: Usage, windows: Windows, limits: RateLimits, now: number): ChargeOutcome {
  const minute = { openedAt: windows.minute.openedAt, used: windows.minute.used + 1 };
  const day = { openedAt: windows.day.openedAt, used: windows.day.used + 1 };
  return {
    usage: {
      minuteOpenedAt: minute.openedAt,
      minuteUsed: minute.used,
      dayOpenedAt: day.openedAt,
      dayUsed: day.used,
      refusals: 0,
      bans: usage.bans,
      bannedAt: usage.bannedAt,
      lastUsedAt: now,
    },
    verdict: {
      kind: "admitted",
      quota: bindingQuota(
        quotaOf(minute, MINUTE, limits.perMinute),
        quotaOf(day, DAY, limits.perDay),
      ),
    },
  };
}

function refused(windows: Windows, limits: RateLimits): Verdict {
  const minute = quotaOf(windows.minute, MINUTE, limits.perMinute);
  const day = quotaOf(windows.day, DAY, limits.perDay);
  const quota = bindingQuota(minute, day);
  return { kind: "refused", quota, until: quota.resetAt, window: quota === day ? "day" : "minute" };
}

/** A banned key has nothing left until the ban ends, or longer if a window is used up beyond that. */
function banned(
  banEnd: number,
  begins: boolean,
  { minute, day }: Windows,
  limits: RateLimits,
): Verdict {
  const until = Math.max(
    banEnd,
    minute.used < limits.perMinute ? 0 : minute.openedAt + MINUTE,
    day.used < limits.perDay ? 0 : day.openedAt + DAY,
  );
  const limit = day.used < limits.perDay ? limits.perMinute : limits.perDay;
  return { kind: "banned", quota: { limit, remaining: 0, resetAt: until }, until, begins };
}

function quotaOf(window: Window, length: number, limit: number): Quota {
  return {
    limit,
    remaining: Math.max(0, limit - window.used),
    resetAt: window.openedAt + length,
  };
}

/**
 * The usage with its windows where they lie now; the very same when none of them had to move. A window
 * that was seen to end has ended, also when the clock is set back then.
 */
function withWindows(usage: Usage, { minute, day }: Windows): Usage {
  const minuteStands = stands(minute, usage.minuteOpenedAt, usage.minuteUsed);
  const dayStands = stands(day, usage.dayOpenedAt, usage.dayUsed);
  if (minuteStands && dayStands) return usage;
  return {
    ...usage,
    minuteOpenedAt: minute.openedAt,
    minuteUsed: minute.used,
    dayOpenedAt: day.openedAt,
    dayUsed: day.used,
  };
}

/** Whether a window is still as it was stored; when an unused one begins says nothing. */
function stands(window: Window, openedAt: number, used: number): boolean {
  return window.used === used && (used === 0 || window.openedAt === openedAt);
}
