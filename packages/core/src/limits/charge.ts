import type { ClockReading } from "../clock.js";
import { afterRefusal, bannedUntil, rememberedBans, type BanRule } from "./ban.js";
import {
  bindingWindow,
  endOf,
  quotaOf,
  withBinding,
  type Quota,
  type WindowQuotas,
} from "./quota.js";
import { usedAt, windowsOf, withWindows, type Usage } from "./usage.js";
import { currentWindow, type Window } from "./window.js";
import {
  eachWindow,
  limitOf,
  SHORTEST,
  windowNames,
  windows as kinds,
  type EachWindow,
  type RateLimits,
  type WindowName,
} from "./windows.js";

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
      readonly window: WindowName;
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
 * Decides one request: it takes a token from the bucket of each window, or from none. The
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
      usage: upToDate(usage, windows),
      verdict: banned(banEnd, false, windows, limits),
    };
  }
  if (windowNames.every((name) => hasTokens(name, windows, limits))) {
    return admitted(usage, windows, limits, reading.now);
  }
  const current = upToDate(usage, windows);
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

type Windows = EachWindow<Window>;

function currentWindows(usage: Usage, reading: ClockReading): Windows {
  const stored = windowsOf(usage);
  return eachWindow((name) => currentWindow(stored[name], kinds[name].milliseconds, reading));
}

function hasTokens(name: WindowName, windows: Windows, limits: RateLimits): boolean {
  return windows[name].used < limitOf(limits, name);
}

function quotasOf(windows: Windows, limits: RateLimits): WindowQuotas {
  return eachWindow((name) => quotaOf(name, windows[name], limits));
}

function admitted(usage: Usage, before: Windows, limits: RateLimits, now: number): ChargeOutcome {
  const windows = eachWindow((name) => ({
    openedAt: before[name].openedAt,
    used: before[name].used + 1,
  }));
  const quotas = quotasOf(windows, limits);
  return {
    usage: withWindows(
      {
        refusedSince: 0,
        refusals: 0,
        bans: usage.bans,
        bannedAt: usage.bannedAt,
        lastUsedAt: usedAt(now),
      },
      windows,
    ),
    verdict: { kind: "admitted", quota: withBinding(quotas, bindingWindow(quotas)) },
  };
}

function refused(windows: Windows, limits: RateLimits): Verdict {
  const quotas = quotasOf(windows, limits);
  const window = bindingWindow(quotas);
  const quota = withBinding(quotas, window);
  return { kind: "refused", quota, until: quota.resetAt, window };
}

/** A banned key has no quota until the ban ends, or until the last used-up window ends, whichever is later. */
function banned(banEnd: number, begins: boolean, windows: Windows, limits: RateLimits): Verdict {
  const until = servedAt(banEnd, windows, limits);
  const usedUp = windowNames.findLast((name) => !hasTokens(name, windows, limits));
  const quota = withBinding(noQuotas(until, limits), usedUp ?? SHORTEST);
  return { kind: "banned", quota, until, banEnd, begins };
}

/** Returns when a banned key is served again. */
function servedAt(banEnd: number, windows: Windows, limits: RateLimits): number {
  const usedUp = windowNames.filter((name) => !hasTokens(name, windows, limits));
  return Math.max(banEnd, ...usedUp.map((name) => endOf(name, windows[name])));
}

function noQuotas(until: number, limits: RateLimits): WindowQuotas {
  return eachWindow((name) => ({ limit: limitOf(limits, name), remaining: 0, resetAt: until }));
}

/**
 * Returns the usage with its current windows; the same object if none has changed. A window that has
 * ended stays ended even if the clock is set back afterwards, because its end is stored. The start of an unused window
 * does not matter.
 */
function upToDate(usage: Usage, windows: Windows): Usage {
  const stored = windowsOf(usage);
  const isUnchanged = windowNames.every(
    (name) => stored[name].used === 0 || windows[name].openedAt === stored[name].openedAt,
  );
  return isUnchanged ? usage : withWindows(usage, windows);
}
