/** The name under which callers without a known origin share a bucket. */
const UNKNOWN = "unknown";
const MAX_LENGTH = 64;
const IPV4_MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const IPV6 = /^[0-9a-f:]+(?:%.*)?$/i;

/**
 * The bucket that an origin shares: an IPv4 address its own (also when written as IPv4-mapped IPv6),
 * an IPv6 address its /64 network, since one subscriber commonly holds a whole /64; anything else
 * that a host uses to tell callers apart, itself.
 */
export function originGroup(origin: string | undefined): string {
  if (typeof origin !== "string" || origin === "") return UNKNOWN;
  const mapped = IPV4_MAPPED.exec(origin)?.[1];
  if (mapped !== undefined) return mapped;
  if (origin.includes(":") && IPV6.test(origin)) return network64(origin);
  return origin.slice(0, MAX_LENGTH);
}

function network64(address: string): string {
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const leading = head === "" ? [] : head.split(":");
  const trailing = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : Math.max(0, 8 - leading.length - trailing.length);
  const groups = [...leading, ...new Array<string>(gap).fill("0"), ...trailing];
  return `${groups.slice(0, 4).map(canonicalGroup).join(":")}::/64`;
}

function canonicalGroup(group: string): string {
  return group.toLowerCase().replace(/^0+(?=.)/, "");
}
