import { LRUCache } from "lru-cache";
import type { ClockReader } from "../clock.js";
import { digestOf } from "../keys/key-format.js";
import { charge, standingOf, type Verdict } from "./charge.js";
import { parseAddress } from "./client-address.js";
import type { RateLimits } from "./plan.js";
import { NO_USAGE, type Usage } from "./usage.js";
import { bindingWindow, withBinding, type Quota } from "./window.js";

/** The buckets of callers without a valid key: one per origin, in memory, up to a maximum number. */
export interface AnonymousBuckets {
  /** Takes a token from the origin's bucket, if it has one. `now` is the time of the verdict. */
  charge(origin: string | undefined): { readonly verdict: Verdict; readonly now: number };
  /** Whether the origin has used up its bucket. */
  isEmpty(origin: string | undefined): boolean;
  /** Returns the quota that the origin has left, by the last good reading if the clock fails. Never throws. */
  peek(origin: string | undefined): Quota;
}

/** Creates buckets for at most `max` origins. Beyond it, the least recently used is dropped. */
export function createAnonymousBuckets(
  limits: RateLimits,
  max: number,
  { readClock, lastReading }: ClockReader,
): AnonymousBuckets {
  const rules = { limits, ban: undefined };
  // It takes the memory of all its entries at once, which a store without such callers does not need.
  let cache: LRUCache<string, Usage> | undefined;
  /** When the last of the empty buckets is full again. */
  let lastReset = 0;

  const peek = (origin: string | undefined): Quota => {
    const usage = cache?.get(bucketOf(origin)) ?? NO_USAGE;
    const { quotas } = standingOf(usage, rules, lastReading());
    return withBinding(quotas, bindingWindow(quotas));
  };
  return {
    charge: (origin) => {
      const bucket = bucketOf(origin);
      const reading = readClock();
      cache ??= new LRUCache({ max });
      const stored = cache.get(bucket) ?? NO_USAGE;
      const { usage, verdict } = charge(stored, rules, reading);
      cache.set(bucket, usage);
      const { remaining, resetAt } = verdict.quota;
      if (remaining === 0) lastReset = Math.max(lastReset, resetAt);
      return { verdict, now: reading.now };
    },
    // Called for valid keys, too: the first comparison spares them `bucketOf`.
    isEmpty: (origin) => readClock().now < lastReset && peek(origin).remaining === 0,
    peek,
  };
}

const MAX_ORIGIN_LENGTH = 64;

/**
 * Returns the name of an origin's bucket. An IPv4 address has its own bucket, whatever port is written behind it. The IPv6 addresses of a /64 share one,
 * because a subscriber usually has a whole /64. Any other text has its own bucket, named by its digest if it is long.
 * Without an origin, the name is empty.
 */
function bucketOf(origin: string | undefined): string {
  if (typeof origin !== "string") return "";
  const address = parseAddress(origin);
  if (address !== undefined) return address.includes(":") ? networkOf(address) : copyOf(address);
  return origin.length > MAX_ORIGIN_LENGTH ? digestOf(origin) : copyOf(origin);
}

/** Returns the /64 of an IPv6 address in its shortest form. */
function networkOf(address: string): string {
  const zeros = ":0".repeat(8 - groupsOf(address).length);
  return `${groupsOf(address.replace("::", `${zeros}:`))
    .slice(0, 4)
    .join(":")}::/64`;
}

function groupsOf(address: string): string[] {
  return address.split(":").filter((group) => group !== "");
}

/** Copies a text: a substring of a header would keep the whole header in memory. */
function copyOf(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join("");
}
