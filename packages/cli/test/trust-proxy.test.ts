import { describe, expect, it } from "vitest";
import { startServer, useBuiltPetstore, type BuiltServer } from "./support/built-petstore.js";
import { newDatabase, petstore } from "./support/command.js";

useBuiltPetstore();

const start = (...args: readonly string[]): Promise<BuiltServer> =>
  startServer("--database", newDatabase(), ...args);

/** How many requests the origin of a request without a key has left; a new origin has 59. */
async function left(url: string, forwardedFor?: string): Promise<number> {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const response = await fetch(`${url}/pets`, { headers });
  expect(response.status).toBe(401);
  return Number(response.headers.get("x-ratelimit-remaining"));
}

describe("serve --trust-proxy", () => {
  it("takes the last address that is not a proxy, or the peer", async () => {
    const { url } = await start("--trust-proxy", "127.0.0.1", "10.0.0.0/8", "fd00::/8");
    const client = "203.0.113.7";
    expect(await left(url, client)).toBe(59);
    expect(await left(url, `198.51.100.1, ${client}`)).toBe(58);
    expect(await left(url, `nonsense,${client} , 10.1.2.3`)).toBe(57);
    expect(await left(url, `::ffff:${client}, ::ffff:10.1.2.3, fd12::1`)).toBe(56);
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

  it("does not read the header of a peer that is not a proxy, or without the option", async () => {
    for (const args of [[], ["--trust-proxy", "10.0.0.1"]]) {
      const { url } = await start(...args);
      expect(await left(url, "203.0.113.7")).toBe(59);
      expect(await left(url, "203.0.113.8")).toBe(58);
    }
  });

  it.each(["127.0.0.1", "::ffff:127.0.0.0/104"])(
    "on ::, trusts a proxy that connects from ::1, and with %s one from 127.0.0.1",
    async (trusted) => {
      const { url } = await start("--host", "::", "--trust-proxy", "::1", trusted);
      for (const [host, client] of [
        ["127.0.0.1", "203.0.113.7"],
        ["[::1]", "203.0.113.8"],
      ]) {
        const base = `http://${host}:${new URL(url).port}/v1`;
        expect(await left(base, client)).toBe(59);
        expect(await left(base)).toBe(59);
      }
    },
  );

  it.each(["proxy.test", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/8/8", "", "1.2.3"])(
    "refuses %j",
    async (value) => {
      const refused = await petstore("serve", "--trust-proxy", value);
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toMatch(/^petstore: .*--trust-proxy.* It must be an IP address/);
    },
  );
});
