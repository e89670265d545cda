import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type IPVersion } from "node:net";
import { parseAddress } from "@petstore/core/internal";

/**
 * Creates the function that finds the address of clients behind these proxies, for the option `clientAddress`: the last
 * address in `X-Forwarded-For` that is not a proxy itself. Earlier ones may be the client's inventions. The header of any
 * other peer is not read. If it is missing, or has no address there, the address is the peer's. Ports do not count.
 *
 * ```ts
 * mount(server, store, { clientAddress: clientAddressBehind(["127.0.0.1", "10.1.0.0/16"]) });
 * ```
 * @param proxies IP addresses, and ranges such as `10.0.0.0/8`.
 * @throws TypeError that names the one that is neither.
 */
export function clientAddressBehind(
  proxies: readonly string[],
): (request: IncomingMessage) => string | undefined {
  const trusted = new BlockList();
  for (const proxy of proxies) addProxy(trusted, proxy);
  const isTrusted = (address: string | undefined): boolean =>
    address !== undefined && trusted.check(address, familyOf(address));

  return ({ socket, headers }) => {
    const peer = parseAddress(socket.remoteAddress ?? "");
    const forwarded = headers["x-forwarded-for"];
    if (!isTrusted(peer) || forwarded === undefined) return peer;
    const texts = String(forwarded).split(",");
    // Earlier ones are not parsed: clients may send thousands.
    const client = texts.findLastIndex((text) => !isTrusted(parseAddress(text)));
    return parseAddress(texts[Math.max(0, client)] ?? "") ?? peer;
  };
}

function addProxy(trusted: BlockList, proxy: string): void {
  const [, address = "", range] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(proxy) ?? [];
  const allBits = isIP(address) === 6 ? 128 : 32;
  const bits = Number(range ?? allBits);
  if (isIP(address) === 0 || bits > allBits)
    throw new TypeError(`@petstore/http-adapter: "${proxy}" is neither an IP address nor a range`);
  trusted.addSubnet(address, bits, familyOf(address));
}

function familyOf(address: string): IPVersion {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
