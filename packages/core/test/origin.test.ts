import { isIPv6 } from "node:net";
import { describe, expect, it } from "vitest";
import { openStore } from "./support/open-store.js";

const LONG = "x".repeat(15_000);

async function share(one: string | undefined, other: string | undefined): Promise<boolean> {
  const { store } = openStore();
  await store.as("bad", one).admit();
  return store.anonymousQuota(other).remaining === 59;
}

describe("the origin of callers without a valid key", () => {
  it.each<[string, string | undefined, string | undefined]>([
    ["an IPv6 /64", "2001:db8:1:2::1", "2001:0DB8:1:2:ffff::9%eth0"],
    ["an IPv6 /64 with a gap", "2001:db8::1", "2001:db8::2"],
    ["a gap and the zeros written out", "2001:db8:0:0:1:2:3:4", "2001:db8::1"],
    ["gaps in two places", "2001:db8:0:1::1", "2001:db8::1:0:0:0:1"],
    ["a gap at the beginning", "::1", "0::2"],
    ["zeros at the beginning and a gap later", "0:0:5:6::1", "::5:6:1:1:1:1"],
    ["zeros before the last group and a gap later", "2001:0:0:5::1", "2001::5:1:1:1:1"],
    ["what begins like mapped IPv4", "::ffff:1:2:3", "::1"],
    ["an IPv6 /64 whose addresses end like IPv4", "64:ff9b::192.0.2.1", "64:ff9b::1"],
    ["one link, by whichever interface", "fe80::1%eth0", `fe80::1%${LONG}`],
    ["IPv4 and the same mapped into IPv6", "192.0.2.1", "::ffff:192.0.2.1"],
    ["IPv4 and the same mapped and written out", "192.0.2.1", "0:0:0:0:0:FFFF:c000:0201"],
    ["no origin and an empty one", undefined, ""],
    ["a long text and itself", LONG, LONG],
  ])("%s: one bucket", async (_, one, other) => {
    expect(await share(one, other)).toBe(true);
  });

  it.each([
    ["another /64", "2001:db8:1:2::1", "2001:db8:1:3::1"],
    ["another /64 with a gap", "2001:db8::1", "2001:db8:1::1"],
    ["two IPv4 addresses", "192.0.2.1", "192.0.2.2"],
    ["two IPv4 addresses, mapped", "::ffff:c000:201", "::ffff:c000:202"],
    ["loopback and a link", "::1", "fe80::1"],
    ["what ends like mapped IPv4", "1::ffff:c000:201", "2::ffff:c000:201"],
    ["groups with the same digits", "1:23:4:5::", "12:3:4:5::"],
    ["two MAC addresses", "aa:bb:cc:dd:ee:01", "aa:bb:cc:dd:ee:02"],
    ["two times of day", "12:30:01", "12:30:02"],
    ["texts that begin alike", `${LONG}1`, `${LONG}2`],
    ["texts of 65 characters", `${"x".repeat(64)}1`, `${"x".repeat(64)}2`],
  ])("%s: two buckets", async (_, one, other) => {
    expect(await share(one, other)).toBe(false);
  });

  const WRITTEN = `1:2:3:4:5:6:7:8 1:2:3:4:: 1:2:3:4:5:6:7:: 1:2:3:4::6:7:8 1:2:3:4:5:6:7.8.9.1
    1:2:3:4 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4::5::6 1:2:3:4:5:6:7::: 1:2:3:4:::5 :1:2:3:4::
    1:2:3:4::5: 1:2:3:4::12345 1:2:3:4::g 1:2:3:4::5.6.7 1:2:3:4::1.2.3.256 1:2:3:4::1.2.3.04
    1:2:3:4::1234.2.3.4 1:2:3:4:5:6:7:1.2.3.4 1:2:3:4::1.2.3.4:5 1:2:3:4::5/64 [1:2:3:4::5]`;
  const SPACED = ["1:2:3:4::5 ", "1:2:3:4::5\n", "\n1:2:3:4::5"];
  it.each([...WRITTEN.split(/\s+/), ...SPACED])(
    "%j counts by its /64 exactly if it is an IPv6 address",
    async (text) => {
      expect(await share(text, "1:2:3:4:ffff::")).toBe(isIPv6(text));
    },
  );
});
