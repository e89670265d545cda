import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type IPVersion } from "node:net";
import { parseAddress } from "@petstore/core/internal";

/** Returns the address of a request's client, which tells callers without a valid key apart. */
export type FindClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * Creates the function that finds the address of clients behind these proxies, for the option `clientAddress`: the last
 * address in `X-Forwarded-For` that is not a proxy itself. Earlier ones may be the client's inventions. The header of any
 * other peer is not read. If the header is missing, or has something else than an address there, the address is that of
 * the peer. A port behind an address does not count.
 *
 * ```ts
 * mount(server, store, { clientAddress: clientAddressBehind(["127.0.0.1", "10.1.0.0/16"]) });
 * ```
 * @param proxies IP addresses, and ranges such as `10.0.0.0/8`.
 * @throws TypeError that names the one that is neither.
 */
export function clientAddressBehind(proxies: readonly string[]): FindClientAddress {
  const trusted = new BlockList();
  for (const proxy of proxies) addProxy(trusted, proxy);
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address));

  return ({ socket, headers }) => {
    const peer = parseAddress(socket.remoteAddress ?? "");
    const forwarded = headers["x-forwarded-for"];
    if (peer === undefined || !isTrusted(peer) || forwarded === undefined) return peer;
    const addresses = String(forwarded).split(",").map(parseAddress);
    const isClient = (address: string | undefined) => address === undefined || !isTrusted(address);
    const client = addresses.findLastIndex(isClient);
    return addresses[Math.max(0, client)] ?? peer;
  };
}

function addProxy(trusted: BlockList, proxy: string): void {
  const [address = "", bits, ...rest] = proxy.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  const isRange = bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
  if (isIP(address) === 0 || rest.length > 0 || (bits !== undefined && !isRange)) {
    throw new TypeError(`@petstore/http-adapter: "${proxy}" is neither an IP address nor a range`);
  }
  if (bits === undefined) trusted.addAddress(address, familyOf(address));
  else trusted.addSubnet(address, Number(bits), familyOf(address));
}

function familyOf(address: string): IPVersion {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
