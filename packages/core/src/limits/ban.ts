import type { RateLimits } from "./plan.js";
import type { Reading } from "./reading.js";
import type { Usage } from "./usage.js";
import { anchor } from "./window.js";

/** When a key that keeps sending is banned, and for how long. */
export interface BanRule {
  /** Refusals in a row after which the next one bans; `undefined`: the key's per-minute limit. */
  readonly afterRefusals: number | undefined;
  /** How long the first ban lasts, in milliseconds. Each further one lasts twice the one before. */
  readonly first: number;
  /** How long a ban lasts at most, in milliseconds. */
  readonly longest: number;
  /** How long after a ban's end it is forgotten, in milliseconds. */
  readonly forgottenAfter: number;
}

/** The bans that a usage remembers, moved to where they lie by this clock. */
export function rememberedBans(usage: Usage, rule: BanRule, reading: Reading): Usage {
  if (usage.bans === 0) return usage;
  const length = banLength(usage.bans, rule);
  const bannedAt = anchor(usage.bannedAt, length, reading);
  const forgotten = reading.now >= bannedAt + length + rule.forgottenAfter;
  if (forgotten) return { ...usage, bans: 0, bannedAt: 0 };
  return bannedAt === usage.bannedAt ? usage : { ...usage, bannedAt };
}

/** When the ban in force ends, or `undefined` when none is. */
export function bannedUntil(usage: Usage, rule: BanRule, now: number): number | undefined {
  if (usage.bans === 0) return undefined;
  const end = usage.bannedAt + banLength(usage.bans, rule);
  return now < end ? end : undefined;
}

/** Whether one more refusal is one too many. */
export function isIgnoringRefusals(usage: Usage, rule: BanRule, limits: RateLimits): boolean {
  return usage.refusals >= (rule.afterRefusals ?? limits.perMinute);
}

function banLength(bans: number, rule: BanRule): number {
  return Math.min(rule.first * 2 ** (bans - 1), rule.longest);
}
