import { describe, expect, it } from "vitest";
import { useServer, startServer } from "./support/built-petstore.js";
import { petstore } from "./support/command.js";

/** How many requests the origin of a request without a key has left; a new origin has 59. */
async function left(url: string, forwardedFor?: string): Promise<number> {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const response = await fetch(`${url}/pets`, { headers });
  expect(response.status).toBe(401);
  return Number(response.headers.get("x-ratelimit-remaining"));
}

describe("serve --trust-proxy", () => {
  const proxies = ["127.0.0.1", "::1", "10.0.0.0/8", "fd00::/8"];
  const server = useServer("--host", "::", "--trust-proxy", ...proxies);

  it("takes the last address that is not a proxy, or the peer", async () => {
    const { url } = server();
    const client = "203.0.113.7";
    expect(await left(url, client)).toBe(59);
    expect(await left(url, `198.51.100.1, ${client}`)).toBe(58);
    expect(await left(url, `nonsense,${client} , 10.1.2.3`)).toBe(57);
    expect(await left(url, `::ffff:${client}, ::ffff:10.1.2.3, fd12::1`)).toBe(56);
    expect(await left(url.replace("127.0.0.1", "[::1]"), client)).toBe(55);
    expect(await left(url, "203.0.113.8")).toBe(59);
    expect(await left(url, "2001:db8::1, 10.1.2.3")).toBe(59);
    expect(await left(url, "2001:db8::2")).toBe(58);
    expect(await left(url, "10.0.0.5, 10.1.2.3")).toBe(59);
    // Without an address in the header, it is the peer.
    expect(await left(url)).toBe(59);
    let expected = 58;
    for (const value of ["unknown", "203.0.113.7:80", "[2001:db8::1]", "203.0.113.7, x", ","]) {
      expect(await left(url, value)).toBe(expected);
      expected -= 1;
    }
  });

  it.each([
    ["does not read the header of a peer that is not a proxy", "10.0.0.1", 58],
    ["knows the addresses of IPv4 as IPv6 writes them", "::ffff:127.0.0.0/104", 59],
  ])("%s", async (_, trusted, next) => {
    const { url } = await startServer("--database", ":memory:", "--trust-proxy", trusted);
    expect(await left(url, "203.0.113.7")).toBe(59);
    expect(await left(url, "203.0.113.8")).toBe(next);
  });

  it.each(["proxy.test", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/8/8", "", "1.2.3"])(
    "refuses %j",
    async (value) => {
      const refused = await petstore("serve", "--trust-proxy", value);
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toMatch(/^petstore: .*--trust-proxy.* It must be an IP address/);
    },
  );
});
