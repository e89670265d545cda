import { LRUCache } from "lru-cache";
import type { ClockReader } from "../clock.js";
import { digestOf } from "../keys/key-format.js";
import { charge, standingOf } from "./charge.js";
import { NO_USAGE, type Usage } from "./usage.js";
import { withBinding, type Quota } from "./quota.js";
import type { RateLimits } from "./windows.js";

export type AnonymousBuckets = ReturnType<typeof createAnonymousBuckets>;

/** One bucket for each client address, in memory, for at most `max`; beyond it, the least recently used is dropped. */
export function createAnonymousBuckets(
  limits: RateLimits,
  max: number,
  { readClock, lastReading }: ClockReader,
) {
  const rules = { limits, ban: undefined };
  // It takes the memory of all its entries at once, which a store without such callers does not need.
  let cache: LRUCache<string, Usage> | undefined;
  /** When the last of the empty buckets is full again. */
  let lastReset = 0;

  /** Returns the quota that the client address has left, by the last good reading if the clock fails. Never throws. */
  const peek = (clientAddress: string | undefined): Quota => {
    const usage = cache?.get(bucketOf(clientAddress)) ?? NO_USAGE;
    return withBinding(standingOf(usage, rules, lastReading()).quotas);
  };
  return {
    /** Takes a token from the client address's bucket, if it has one. `now` is the time of the verdict. */
    charge: (clientAddress: string | undefined) => {
      const bucket = bucketOf(clientAddress);
      const reading = readClock();
      cache ??= new LRUCache({ max });
      const stored = cache.get(bucket) ?? NO_USAGE;
      const { usage, verdict } = charge(stored, rules, reading);
      cache.set(bucket, usage);
      const { remaining, resetAt } = verdict.quota;
      if (remaining === 0) lastReset = Math.max(lastReset, resetAt);
      return { verdict, now: reading.now };
    },
    /** Called for valid keys, too: the first comparisons spare them the clock and `bucketOf`. */
    isEmpty: (clientAddress: string | undefined) =>
      lastReset > 0 && readClock().now < lastReset && peek(clientAddress).remaining === 0,
    peek,
  };
}

const MAX_ADDRESS_LENGTH = 64;

/**
 * Returns the name of a client address's bucket. An IPv4 address has its own bucket, whatever port is written behind it.
 * The IPv6 addresses of a /64 share one, because a subscriber usually has a whole /64. Any other text has its own bucket,
 * named by its digest if it is long. Without a client address, the name is empty.
 */
function bucketOf(clientAddress: string | undefined): string {
  if (typeof clientAddress !== "string") return "";
  const address = parseAddress(clientAddress);
  if (address?.includes(":") === true) return networkOf(address);
  const text = address ?? clientAddress;
  if (text.length > MAX_ADDRESS_LENGTH) return digestOf(text);
  // Copied: a substring of a header would keep the whole header in memory.
  return [text.slice(0, 1), text.slice(1)].join("");
}

function networkOf(address: string): string {
  const zeros = ":0".repeat(8 - groupsOf(address).length);
  return `${groupsOf(address.replace("::", `${zeros}:`))
    .slice(0, 4)
    .join(":")}::/64`;
}

function groupsOf(address: string): string[] {
  return address.split(":").filter((group) => group !== "");
}

/**
 * Returns the IP address in a text, without port, brackets and zone (RFC 4007, section 11): `198.51.100.7` for
 * `198.51.100.7:50001`, `2001:db8::1` for `[2001:DB8::1]:443`. IPv6 is in its shortest form (RFC 5952), and IPv4-mapped
 * IPv6 is IPv4. `undefined` if the text is something else.
 */
export function parseAddress(text: string): string | undefined {
  const [address = ""] = withoutPort(text.trim()).split("%", 1);
  return IPV4.test(address) ? address : parseIpv6(address);
}

/** Without leading zeros, which some readers take for octal. */
const IPV4 = /^(?:(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/;

/** A port can follow brackets or an IPv4 address. */
function withoutPort(text: string): string {
  const [, inBrackets, beforePort] = /^\[([^\]]*)\](?::\d+)?$|^(.*\.\d+):\d+$/.exec(text) ?? [];
  return inBrackets ?? beforePort ?? text;
}

function parseIpv6(text: string): string | undefined {
  // The URL parser would ignore tabs and line breaks, and stop at a slash.
  if (!/^[0-9a-f:.]+$/i.test(text)) return undefined;
  const url = `http://[${text}]`;
  if (!URL.canParse(url)) return undefined;
  const address = new URL(url).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address);
  return mapped === null ? address : mapped.slice(1).map(asOctets).join(".");
}

const asOctets = (group: string): string => Buffer.from(group.padStart(4, "0"), "hex").join(".");
