import { digestOf } from "../keys/secret.js";
import { parseIpv6 } from "./ipv6.js";

/** The name under which callers without a known origin share a bucket. */
const UNKNOWN = "unknown";
const MAX_LENGTH = 64;

/**
 * The bucket that an origin shares: an IPv4 address its own (also when written as IPv4-mapped IPv6),
 * an IPv6 address its /64 network, since one subscriber commonly holds a whole /64; anything else
 * that a host uses to tell callers apart, itself, or its digest when it is long.
 */
export function originGroup(origin: string | undefined): string {
  if (typeof origin !== "string" || origin === "") return UNKNOWN;
  const groups = parseIpv6(origin);
  if (groups !== undefined) return networkOf(groups);
  return origin.length > MAX_LENGTH ? digestOf(origin) : copyOf(origin);
}

function networkOf(groups: readonly number[]): string {
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return groups.slice(6).map(asOctets).join(".");
  return `${groups.slice(0, 4).map(inHex).join(":")}::/64`;
}

function asOctets(group: number): string {
  return `${group >> 8}.${group & 255}`;
}

function inHex(group: number): string {
  return group.toString(16);
}

/** Joined anew: cut from a header, it would keep the whole of that in memory. */
function copyOf(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join("");
}
