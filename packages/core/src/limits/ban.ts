import type { ClockReading } from "../clock.js";
import { limitOf, SHORTEST, type RateLimits } from "./windows.js";
import { correctedStart, NO_USAGE, usedAt, type Usage } from "./usage.js";

/** `BanOptions` in milliseconds. */
export interface BanRule {
  /** `undefined`: the key's per-minute limit. */
  readonly afterRefusals: number | undefined;
  readonly grace: number;
  readonly first: number;
  readonly longest: number;
  readonly forgottenAfter: number;
}

/** Returns the usage without bans that are forgotten by now, their start corrected for this clock. */
export function rememberedBans(usage: Usage, rule: BanRule, reading: ClockReading): Usage {
  if (usage.bans === 0) return usage;
  const length = banLength(usage.bans, rule);
  const memory = length + rule.forgottenAfter;
  const isForgotten = reading.now >= correctedStart(usage.bannedAt, memory, reading) + memory;
  if (isForgotten) return { ...usage, bans: 0, bannedAt: 0 };
  const bannedAt = correctedStart(usage.bannedAt, length, reading);
  return bannedAt === usage.bannedAt ? usage : { ...usage, bannedAt };
}

export function bannedUntil(usage: Usage, rule: BanRule, now: number): number | undefined {
  if (usage.bans === 0) return undefined;
  const end = usage.bannedAt + banLength(usage.bans, rule);
  return now < end ? end : undefined;
}

/** Adds a ban after too many in a row. Those of the grace period, whose requests were under way, do not count. */
export function afterRefusal(
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
