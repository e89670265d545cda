import { LRUCache } from "lru-cache";
import { bindingQuota, charge, remainingQuotas, type Terms, type Verdict } from "./charge.js";
import { originGroup } from "./origin.js";
import type { RateLimits } from "./plan.js";
import type { Quota } from "./quota.js";
import type { Timekeeper } from "./reading.js";
import { NO_USAGE, type Usage } from "./usage.js";

/** The buckets of callers without a valid key: one for each origin, in memory, bounded in number. */
export interface AnonymousBuckets {
  /** Takes a token from the origin's bucket. */
  charge(origin: string | undefined): { readonly verdict: Verdict; readonly now: number };
  /** What is left to the origin. */
  peek(origin: string | undefined): Quota;
}

/** Buckets with these limits for at most `max` origins; beyond that the longest unseen is dropped. */
export function createAnonymousBuckets(
  limits: RateLimits,
  max: number,
  read: Timekeeper,
): AnonymousBuckets {
  const usages = new LRUCache<string, Usage>({ max });
  const terms: Terms = { limits, ban: undefined };
  return {
    charge: (origin) => {
      const group = originGroup(origin);
      const reading = read();
      const { usage, verdict } = charge(usages.get(group) ?? NO_USAGE, terms, reading);
      usages.set(group, usage);
      return { verdict, now: reading.now };
    },
    peek: (origin) => {
      const usage = usages.get(originGroup(origin)) ?? NO_USAGE;
      const { minute, day } = remainingQuotas(usage, limits, read());
      return bindingQuota(minute, day);
    },
  };
}
