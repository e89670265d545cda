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

function asOctets(group: string): string {
  const number = Number.parseInt(group, 16);
  return `${number >> 8}.${number & 255}`;
}
