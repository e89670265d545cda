import type { ClockReading } from "../clock.js";
import { withBinding, type Quota, type AllQuotas } from "./quota.js";
import { correctedStart, currentWindows, NO_USAGE, usedAt } from "./usage.js";
import { windowsOf, withWindows, type Usage, type Window } from "./usage.js";
import { eachWindow, limitOf, SHORTEST, windowNames } from "./windows.js";
import type { EachWindow, RateLimits, WindowName } from "./windows.js";

/** `BanOptions` in milliseconds. */
export interface BanRule {
  /** `undefined`: the key's per-minute limit. */
  readonly afterRefusals: number | undefined;
  readonly grace: number;
  readonly first: number;
  readonly longest: number;
  readonly forgottenAfter: number;
}

export interface LimitRules {
  readonly limits: RateLimits;
  /** `undefined`: keys are never banned. */
  readonly ban: BanRule | undefined;
}

/** Whether a request is admitted, and the quota after it. `until` is in milliseconds since the Unix epoch. */
export type Verdict =
  { readonly kind: "admitted"; readonly quota: Quota } | ReturnType<typeof refused | typeof banned>;

/**
 * Decides one request, and returns the usage after it (the same object, if there is nothing to store): it takes a token
 * from the bucket of each window, or from none. The first request opens a bucket's window; when the window ends, the
 * bucket gets all its tokens back. A refused request takes no token, and too many refusals in a row ban the key.
 * Requests during a ban are not counted, so that every ban ends by itself.
 */
export function charge(
  stored: Usage,
  { limits, ban }: LimitRules,
  reading: ClockReading,
): { readonly usage: Usage; readonly verdict: Verdict } {
  const usage = ban === undefined ? stored : rememberedBans(stored, ban, reading);
  const windows = currentWindows(usage, reading);

  const banEnd = ban && bannedUntil(usage, ban, reading.now);
  if (banEnd !== undefined) {
    const verdict = banned(banEnd, false, quotasOf(windows, limits));
    return { usage: upToDate(usage, windows), verdict };
  }
  const quota = withBinding(quotasOf(windows, limits, 1));
  if (quota.remaining >= 0) {
    const { bans, bannedAt } = usage;
    const lastUsedAt = usedAt(reading.now);
    const served = { refusedSince: 0, refusals: 0, bans, bannedAt, lastUsedAt };
    return { usage: withWindows(served, windows, 1), verdict: { kind: "admitted", quota } };
  }
  const quotas = quotasOf(windows, limits);
  const current = upToDate(usage, windows);
  const next = ban === undefined ? current : afterRefusal(current, ban, limits, reading);
  const until = ban && bannedUntil(next, ban, reading.now);
  const verdict = until === undefined ? refused(quotas) : banned(until, true, quotas);
  return { usage: next, verdict };
}

/** Returns what this usage means, without a request. `bannedUntil` is `undefined` if no ban is in force. */
export function standingOf(
  usage: Usage,
  { limits, ban }: LimitRules,
  reading: ClockReading,
): { readonly bannedUntil: number | undefined; readonly quotas: AllQuotas } {
  const quotas = quotasOf(currentWindows(usage, reading), limits);
  const banEnd = ban && bannedUntil(rememberedBans(usage, ban, reading), ban, reading.now);
  if (banEnd === undefined) return { bannedUntil: undefined, quotas };
  return { bannedUntil: banEnd, quotas: emptyUntil(servedAt(banEnd, quotas), quotas) };
}

type Windows = EachWindow<Window>;

/** Returns the quotas after taking this many tokens from each window. `remaining` is negative if too few were left. */
function quotasOf(windows: Windows, limits: RateLimits, taken = 0): AllQuotas {
  return eachWindow((name, facts) => {
    const limit = limitOf(limits, name);
    const { openedAt, used } = windows[name];
    const resetAt = openedAt + facts.milliseconds;
    return { limit, remaining: Math.max(0, limit - used) - taken, resetAt };
  });
}

function usedUpIn(quotas: AllQuotas): readonly WindowName[] {
  return windowNames.filter((name) => quotas[name].remaining === 0);
}

function refused(quotas: AllQuotas) {
  const quota = withBinding(quotas);
  return { kind: "refused", quota, until: quota.resetAt } as const;
}

/** A banned key has no quota until it is served again. `begins` says whether the ban began with this request. */
function banned(banEnd: number, begins: boolean, quotas: AllQuotas) {
  const until = servedAt(banEnd, quotas);
  const quota = withBinding(emptyUntil(until, quotas), usedUpIn(quotas).at(-1) ?? SHORTEST);
  return { kind: "banned", quota, until, banEnd, begins } as const;
}

/** Returns when a banned key is served again: when the ban and every used-up window have ended. */
function servedAt(banEnd: number, quotas: AllQuotas): number {
  return Math.max(banEnd, ...usedUpIn(quotas).map((name) => quotas[name].resetAt));
}

function emptyUntil(resetAt: number, quotas: AllQuotas): AllQuotas {
  return eachWindow((name) => ({ limit: quotas[name].limit, remaining: 0, resetAt }));
}

/** The same object if no used window has changed. One that has ended is stored: if the clock is set back, it stays so. */
function upToDate(usage: Usage, windows: Windows): Usage {
  const stored = windowsOf(usage);
  const isUnchanged = windowNames.every(
    (name) => stored[name].used === 0 || windows[name].openedAt === stored[name].openedAt,
  );
  return isUnchanged ? usage : withWindows(usage, windows);
}

/** Returns the usage without bans that are forgotten by now, their start corrected for this clock. */
function rememberedBans(usage: Usage, rule: BanRule, reading: ClockReading): Usage {
  if (usage.bans === 0) return usage;
  const length = banLength(usage.bans, rule);
  const memory = length + rule.forgottenAfter;
  const isForgotten = reading.now >= correctedStart(usage.bannedAt, memory, reading) + memory;
  if (isForgotten) return { ...usage, bans: 0, bannedAt: 0 };
  const bannedAt = correctedStart(usage.bannedAt, length, reading);
  return bannedAt === usage.bannedAt ? usage : { ...usage, bannedAt };
}

function bannedUntil(usage: Usage, rule: BanRule, now: number): number | undefined {
  if (usage.bans === 0) return undefined;
  const end = usage.bannedAt + banLength(usage.bans, rule);
  return now < end ? end : undefined;
}

/** Adds a ban after too many in a row. Those of the grace period, whose requests were under way, do not count. */
function afterRefusal(
  usage: Usage,
  rule: BanRule,
  limits: RateLimits,
  reading: ClockReading,
): Usage {
  const { now } = reading;
  const isFirst = usage.refusedSince === NO_USAGE.refusedSince;
  const refusedSince = isFirst
    ? usedAt(now)
    : correctedStart(usage.refusedSince, rule.grace, reading);
  if (rule.grace > 0 && now - refusedSince <= rule.grace) {
    return refusedSince === usage.refusedSince ? usage : { ...usage, refusedSince };
  }
  if (usage.refusals < (rule.afterRefusals ?? limitOf(limits, SHORTEST))) {
    return { ...usage, refusedSince, refusals: usage.refusals + 1 };
  }
  return { ...usage, refusedSince: 0, refusals: 0, bans: usage.bans + 1, bannedAt: now };
}

function banLength(bans: number, rule: BanRule): number {
  return Math.min(rule.first * 2 ** (bans - 1), rule.longest);
}
