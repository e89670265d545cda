import { isIPv6 } from "node:net";
import { expect, it, vi } from "vitest";
import { codes, error, openStore, ownLimits, value } from "./support/open-store.js";

it.each([undefined, ""])("without a key (%o) the error is missing_api_key", async (apiKey) => {
  expect(error(await openStore().store.as(apiKey).listPets()).code).toBe("missing_api_key");
});

it("unknown, mistyped, revoked and expired keys look the same, and each takes one token", async () => {
  const { store, clock, issue } = openStore();
  const revoked = await issue();
  const expired = await issue({ plan: "free", expiresAt: clock.now() + 1 });
  const elsewhere = await openStore().issue();
  await store.keys.revoke(revoked.id);
  clock.advance(1);
  const presented = [revoked.secret, expired.secret, elsewhere.secret, "pet_live_x", "nonsense"];
  for (const secret of presented) {
    const { quota, ...refusal } = error(await store.as(secret, secret).listPets());
    const message = "The API key is not valid.";
    expect(refusal).toStrictEqual({ code: "invalid_api_key", message });
    expect(quota).toMatchObject({ limit: 60, remaining: 59 });
  }
});

it("a mistyped key is refused without a look-up", async () => {
  const { store, storage, issue } = openStore();
  const charge = vi.spyOn(storage.usage, "charge");
  const findByDigest = vi.spyOn(storage.usage, "findByDigest");
  const { secret } = await issue();
  const mistyped = (at: number) =>
    secret.slice(0, at) + (secret[at] === "x" ? "y" : "x") + secret.slice(at + 1);
  for (let at = 0; at < secret.length; at += 1)
    expect(error(await store.as(mistyped(at)).admit()).code).toMatch(/invalid|rate_limit/);
  expect(charge).not.toHaveBeenCalled();
  value(await store.as(secret, "elsewhere").admit());
  expect(charge).toHaveBeenCalledOnce();
  expect(findByDigest).not.toHaveBeenCalled();
});

it("keys from a client address that has used up its limit are charged only if they are valid", async () => {
  const plans = { free: { perMinute: 1, perDay: 9 } };
  const { store, storage, clock, issue } = openStore({ plans });
  const charge = vi.spyOn(storage.usage, "charge");
  const findByDigest = vi.spyOn(storage.usage, "findByDigest");
  const { secret } = await issue(ownLimits(2, 9));
  const revoked = await issue();
  value(await store.keys.revoke(revoked.id));
  const elsewhere = await openStore().issue();
  const send = async (apiKey: string | undefined, clientAddress = "192.0.2.1") =>
    (await codes(store.as(apiKey, clientAddress), 1))[0];
  expect(await send("bad")).toBe("invalid_api_key");
  for (const apiKey of ["bad", undefined, elsewhere.secret, revoked.secret])
    expect(await send(apiKey)).toBe("rate_limit_exceeded");
  expect(charge).not.toHaveBeenCalled();
  expect(await send(secret)).toBe("ok");
  expect([charge, findByDigest].map(({ mock }) => mock.calls.length)).toEqual([1, 3]);
  expect([await send(secret), await send(secret)]).toEqual(["ok", "rate_limit_exceeded"]);

  findByDigest.mockClear();
  expect(await send(elsewhere.secret, "192.0.2.2")).toBe("invalid_api_key");
  clock.advance(60_000);
  expect(await send(elsewhere.secret)).toBe("invalid_api_key");
  expect(findByDigest).not.toHaveBeenCalled();
});

it("a client address stays refused while another one's bucket is empty for a shorter time", async () => {
  const { store, storage, clock } = openStore({ plans: { free: { perMinute: 1, perDay: 2 } } });
  const charge = vi.spyOn(storage.usage, "charge");
  const { secret } = await openStore().issue();
  await store.as("bad", "192.0.2.1").admit();
  clock.advance(60_000);
  await store.as("bad", "192.0.2.1").admit();
  await store.as("bad", "192.0.2.2").admit();
  clock.advance(60_000);
  expect(error(await store.as(secret, "192.0.2.1").admit()).code).toBe("rate_limit_exceeded");
  expect(charge).not.toHaveBeenCalled();
});

it.each([
  [{ maxAnonymousClients: 2 }, 2],
  [{}, 10_000],
])("with %o it remembers %i origins", async (options, most) => {
  const { store } = openStore(options);
  for (let client = 0; client <= most; client += 1) await store.as("bad", `${client}`).admit();
  const remaining = [0, 1, most].map((client) => store.anonymousQuota(`${client}`).remaining);
  expect(remaining).toEqual([60, 59, 59]);
});

const LONG = "x".repeat(15_000);

async function leftOf(addresses: readonly (string | undefined)[]): Promise<readonly number[]> {
  const { store } = openStore();
  for (const address of addresses) await store.as("bad", address).admit();
  return addresses.map((address) => store.anonymousQuota(address).remaining);
}

it.each([
  ["an IPv6 /64 with a gap, or with its zeros", "2001:db8::1|2001:db8::2|2001:db8:0:0:1:2:3:4"],
  ["gaps in two places", "2001:db8:0:1::1|2001:db8::1:0:0:0:1"],
  ["a gap at the beginning, also if it begins like mapped IPv4", "::1|0::2|::ffff:1:2:3"],
  ["zeros at the beginning and a gap later", "0:0:5:6::1|::5:6:1:1:1:1"],
  ["zeros before the last group and a gap later", "2001:0:0:5::1|2001::5:1:1:1:1"],
  ["an IPv6 /64 whose addresses end like IPv4", "64:ff9b::192.0.2.1|64:ff9b::1"],
  ["one link, by whichever interface", `fe80::1|fe80::1%eth0|fe80::1%${LONG}|[fe80::1%eth0]:80`],
  ["IPv4 and the same mapped", "192.0.2.1|::ffff:192.0.2.1|0:0:0:0:0:FFFF:c000:0201"],
  ["IPv4, also mapped, with a port", "192.0.2.1| 192.0.2.1:443 |[::ffff:c000:201]:443"],
  ["IPv6, also with a port", "2001:db8::1|[2001:db8::1]:443|[2001:DB8::1]:444|[2001:db8::1]"],
  ["spaces and a line break around it", "2001:db8::1|\n2001:db8::1 "],
  ["no client address and an empty one", "none|"],
  ["a long text and itself", `${LONG}|${LONG}`],
])("%s: one bucket", async (_, texts) => {
  const addresses = texts.split("|").map((text) => (text === "none" ? undefined : text));
  expect(new Set(await leftOf(addresses))).toEqual(new Set([60 - addresses.length]));
});

it.each([
  ["IPv6 /64s", "2001:db8:1:2::1|2001:db8:1:3::1|2001:db8::1|2001:db8:1::1|::1|fe80::1"],
  ["what ends like mapped IPv4", "1::ffff:c000:201|2::ffff:c000:201"],
  ["groups with the same digits", "1:23:4:5::|12:3:4:5::"],
  ["IPv4, mapped or not", "192.0.2.1|192.0.2.2|::ffff:c000:203|::ffff:c000:204"],
  ["IPv4 and what only looks like it", "192.0.2.1:80|192.0.2.01:80|192.0.2:80"],
  ["MAC addresses and times", "aa:bb:cc:dd:ee:01|aa:bb:cc:dd:ee:02|12:30:01|12:30:02"],
  ["texts that begin alike", `${LONG}1|${LONG}2|${"x".repeat(64)}1|${"x".repeat(64)}2`],
])("%s: a bucket each", async (_, texts) => {
  expect(new Set(await leftOf(texts.split("|")))).toEqual(new Set([59]));
});

const WRITTEN = `1:2:3:4:5:6:7:8 1:2:3:4:: 1:2:3:4:5:6:7:: 1:2:3:4::6:7:8 1:2:3:4:5:6:7.8.9.1
    1:2:3:4 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4::5::6 1:2:3:4:5:6:7::: 1:2:3:4:::5 :1:2:3:4::
    1:2:3:4::5: 1:2:3:4::12345 1:2:3:4::g 1:2:3:4::5.6.7 1:2:3:4::1.2.3.256 1:2:3:4::1.2.3.04
    1:2:3:4::1234.2.3.4 1:2:3:4:5:6:7:1.2.3.4 1:2:3:4::5/64`;
it.each(WRITTEN.split(/\s+/))("%j counts by its /64 only if it is IPv6", async (text) => {
  const left = isIPv6(text) ? 58 : 59;
  expect(await leftOf([text, "1:2:3:4:ffff::"])).toEqual([left, left]);
});
