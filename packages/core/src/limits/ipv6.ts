/** How long an IPv6 address is at most, written with an IPv4 address at its end. */
const MAX_LENGTH = 45;
const GROUPS = 8;
const GROUP = /^[0-9a-f]{1,4}$/i;
const OCTET = String.raw`(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const IPV4_AT_END = new RegExp(String.raw`(?<=:)${OCTET}\.${OCTET}\.${OCTET}\.${OCTET}$`);

/**
 * The eight groups of an IPv6 address, in any of its forms (RFC 4291, section 2.2) and without its
 * zone (RFC 4007, section 11); `undefined` when the text is none.
 */
export function parseIpv6(text: string): readonly number[] | undefined {
  const zoneAt = text.indexOf("%");
  const address = zoneAt === -1 ? text : text.slice(0, zoneAt);
  if (address.length > MAX_LENGTH || !address.includes(":")) return undefined;

  const inGroups = address.includes(".") ? address.replace(IPV4_AT_END, asGroups) : address;
  const [head = "", tail, ...more] = inGroups.split("::");
  const leading = parseGroups(head);
  if (leading === undefined || more.length > 0) return undefined;
  if (tail === undefined) return leading.length === GROUPS ? leading : undefined;

  const trailing = parseGroups(tail);
  if (trailing === undefined || leading.length + trailing.length >= GROUPS) return undefined;
  const gap = new Array<number>(GROUPS - leading.length - trailing.length).fill(0);
  return [...leading, ...gap, ...trailing];
}

function asGroups(_: string, ...octets: readonly string[]): string {
  const [a, b, c, d] = octets.map(Number);
  return `${toGroup(a, b)}:${toGroup(c, d)}`;
}

function toGroup(high = 0, low = 0): string {
  return ((high << 8) | low).toString(16);
}

function parseGroups(text: string): readonly number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  for (const group of text.split(":")) {
    if (!GROUP.test(group)) return undefined;
    groups.push(Number.parseInt(group, 16));
  }
  return groups;
}
