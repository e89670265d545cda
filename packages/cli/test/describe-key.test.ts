import type { ApiKey } from "@petstore/core";
import { describe, expect, it } from "vitest";
import { issuedKey, manyKeys, oneKey } from "../src/commands/keys/describe-key.js";

const now = Date.UTC(2031, 0, 1, 12);
const quota = { limit: 60, remaining: 60, resetAt: now };

function keyWith(changes: Partial<ApiKey>): ApiKey {
  return {
    ...{
      id: "key_1",
      hint: "pet_live_abc",
      plan: "free",
      limits: { perMinute: 60, perDay: 1_000 },
    },
    ...{ label: undefined, createdAt: 0, lastUsedAt: undefined, expiresAt: undefined },
    ...{ revokedAt: undefined, bannedUntil: undefined, usage: { minute: quota, day: quota } },
    ...changes,
  };
}

describe("the table of keys", () => {
  const revokedAt = now - 3_600_000;
  const expiresAt = now;
  const bannedUntil = now + 61_000;
  it.each<[Partial<ApiKey>, string]>([
    [{}, "good"],
    [{ expiresAt: now + 1 }, "good"],
    [{ bannedUntil }, "banned until 2031-01-01 12:01:01"],
    [{ bannedUntil, expiresAt }, "expired 2031-01-01 12:00"],
    [{ bannedUntil, expiresAt, revokedAt }, "revoked 2031-01-01 11:00"],
  ])("says of a key with %j: %s", (changes, state) => {
    const line = oneKey.text(keyWith(changes), now).split("\n")[1];
    expect(line?.endsWith(`  ${state}`)).toBe(true);
  });

  it("carries no control character to a terminal; JSON keeps what is stored", () => {
    const key = keyWith({ label: "a\u001b[2J\r\n\u009b\u202eb 🐈", plan: "free\u0007" });
    const text = manyKeys.text([key], now);
    expect(text).toContain("a\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFDb 🐈");
    expect(text).toContain("free\uFFFD");
    expect(text.split("\n")).toHaveLength(2);
    expect(issuedKey.text({ secret: "s", key }, now)).toContain("free\uFFFD plan");
    expect(oneKey.json(key)).toMatchObject({ label: key.label, plan: key.plan });
  });

  it("tells of times that lie beyond every date", () => {
    const key = keyWith({ expiresAt: Number.MAX_SAFE_INTEGER });
    expect(oneKey.text(key, now)).toContain("  +275760-09-13 00:00  good");
    expect(oneKey.json(key)).toMatchObject({ expiresAt: "+275760-09-13T00:00:00.000Z" });
  });

  it("has room for any number of keys", () => {
    const keys = Array<ApiKey>(200_000).fill(keyWith({}));
    expect(manyKeys.text(keys, now).split("\n")).toHaveLength(200_001);
  });
});
