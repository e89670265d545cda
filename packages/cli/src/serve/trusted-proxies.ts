import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type IPVersion } from "node:net";
import { InvalidArgumentError } from "commander";
import { commaSeparated } from "../options.js";

/** Returns the address of a request's client, which tells clients without a valid key apart. */
export type FindClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * Parses the values of `--trust-proxy`, one at a time: addresses, or ranges such as `10.0.0.0/8`, with commas
 * between them. Returns the list of all values so far.
 */
export function addTrustedProxies(value: string, earlier?: BlockList): BlockList {
  return commaSeparated(value).reduce(
    (added, proxy) => addTrustedProxy(proxy, added),
    earlier ?? new BlockList(),
  );
}

function addTrustedProxy(value: string, earlier: BlockList): BlockList {
  const [address = "", bits, ...rest] = value.split("/");
  const family = familyOf(address);
  if (family === undefined || rest.length > 0) throw new InvalidArgumentError(NOT_AN_ADDRESS);
  if (bits === undefined) {
    earlier.addAddress(address, family);
    return earlier;
  }
  const most = family === "ipv4" ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > most)
    throw new InvalidArgumentError(NOT_AN_ADDRESS);
  earlier.addSubnet(address, Number(bits), family);
  return earlier;
}

const NOT_AN_ADDRESS = "It must be an IP address, or a range such as 10.0.0.0/8.";

/**
 * Finds the address of clients behind these proxies: the last address in X-Forwarded-For that is not a proxy
 * itself. Earlier ones may be the client's inventions. The header of any other peer is not read. If the header
 * is missing, or has something else than an address there, the address is that of the peer.
 */
export function clientAddressBehind(proxies: BlockList): FindClientAddress {
  return ({ socket, headers }) => {
    const peer = socket.remoteAddress;
    const forwarded = headers["x-forwarded-for"];
    if (peer === undefined || !isTrusted(proxies, peer) || typeof forwarded !== "string")
      return peer;
    const addresses = forwarded.split(",").map((address) => address.trim());
    const client = addresses.findLast((address) => !isTrusted(proxies, address)) ?? addresses[0];
    return client !== undefined && isIP(client) !== 0 ? client : peer;
  };
}

function isTrusted(proxies: BlockList, address: string): boolean {
  const family = familyOf(address);
  return family !== undefined && proxies.check(address, family);
}

function familyOf(address: string): IPVersion | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}
