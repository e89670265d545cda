import { describe, expect, it } from "vitest";
import { createMemoryStorage, type Caller } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

const MINUTE = 60_000;
const DAY = 86_400_000;
const LIMITS = { perMinute: 3, perDay: 1_000_000 };
/** Every refusal counts, so that a ban needs no waiting. */
const AT_ONCE = { graceSeconds: 0 };
const ENTERPRISE = { plan: "enterprise", limits: LIMITS };

async function codes(caller: Caller, requests: number): Promise<string[]> {
  const all: string[] = [];
  for (let request = 0; request < requests; request += 1) {
    all.push(
      (await caller.admit()).match(
        () => "ok",
        ({ code }) => code,
      ),
    );
  }
  return all;
}

async function openBannable() {
  const opened = openStore({ ban: AT_ONCE });
  const { id, secret } = await opened.issue(ENTERPRISE);
  const caller = opened.store.as(secret);
  return { ...opened, id, caller, ban: () => codes(caller, 7) };
}

describe("a burst", () => {
  it("bans no key for requests that were under way when the first one was refused", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue();
    const burst = await Promise.all(Array.from({ length: 500 }, () => codes(store.as(secret), 1)));
    clock.advance(1_000);
    const last = await codes(store.as(secret), 100);
    expect([...new Set([...burst.flat(), ...last])]).toEqual(["ok", "rate_limit_exceeded"]);
  });

  it("is followed by a ban only after as many later refusals as the per-minute limit", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue(ENTERPRISE);
    await codes(store.as(secret), 50);
    clock.advance(1_001);
    expect(await codes(store.as(secret), 4)).toEqual([
      ...Array<string>(3).fill("rate_limit_exceeded"),
      "api_key_banned",
    ]);
  });

  it("begins anew after each admitted request, and after a ban", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 3, perDay: 6 } });
    const caller = store.as(secret);
    await codes(caller, 4);
    clock.advance(MINUTE);
    expect(await codes(caller, 50)).not.toContain("api_key_banned");
    clock.advance(1_001);
    expect((await codes(caller, 4)).at(-1)).toBe("api_key_banned");
    clock.advance(MINUTE);
    expect(await codes(caller, 50)).not.toContain("api_key_banned");
  });

  it("leaves a grace period as long as the host says", async () => {
    const { store, clock, issue } = openStore({ ban: { graceSeconds: 5 } });
    const { secret } = await issue(ENTERPRISE);
    await codes(store.as(secret), 5);
    clock.advance(5_000);
    expect(await codes(store.as(secret), 50)).not.toContain("api_key_banned");
    clock.advance(1);
    expect((await codes(store.as(secret), 4)).at(-1)).toBe("api_key_banned");
  });
});

describe("ban", () => {
  it("comes after as many ignored refusals in a row as the per-minute limit", async () => {
    const { caller } = await openBannable();
    expect(await codes(caller, 8)).toEqual([
      ...Array<string>(3).fill("ok"),
      ...Array<string>(3).fill("rate_limit_exceeded"),
      "api_key_banned",
      "api_key_banned",
    ]);
  });

  it("lasts a minute, to the millisecond, and is not prolonged by requests that it refuses", async () => {
    const { clock, caller, ban } = await openBannable();
    await ban();
    const refusal = error(await caller.admit());
    expect(refusal).toMatchObject({
      code: "api_key_banned",
      retryAfterSeconds: 60,
      quota: { limit: LIMITS.perMinute, remaining: 0, resetAt: clock.now() + MINUTE },
    });
    for (const wait of [1, MINUTE / 2, MINUTE / 2 - 2]) {
      clock.advance(wait);
      expect(new Set(await codes(caller, 20))).toEqual(new Set(["api_key_banned"]));
    }
    clock.advance(1);
    expect(await codes(caller, 1)).toEqual(["ok"]);
  });

  it("doubles with each further one, up to an hour", async () => {
    const { clock, caller, ban } = await openBannable();
    const seconds: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await ban();
      const refusal = error(await caller.admit());
      if (refusal.code !== "api_key_banned") throw new Error(refusal.code);
      seconds.push(refusal.retryAfterSeconds);
      clock.advance((refusal.retryAfterSeconds - 1) * 1_000);
      expect(error(await caller.admit())).toMatchObject({ retryAfterSeconds: 1 });
      clock.advance(1_000);
    }
    expect(seconds).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  });

  it("is forgotten a day after it ended", async () => {
    const { clock, caller, ban } = await openBannable();
    await ban();
    clock.advance(MINUTE + DAY - 1);
    await ban();
    expect(error(await caller.admit())).toMatchObject({ retryAfterSeconds: 120 });
    clock.advance(2 * MINUTE + DAY);
    expect((await ban())[0]).toBe("ok");
    expect(error(await caller.admit())).toMatchObject({ retryAfterSeconds: 60 });
  });

  it("needs refusals in a row: a served request resets the count", async () => {
    const { clock, caller } = await openBannable();
    for (let minute = 0; minute < 5; minute += 1) {
      expect(await codes(caller, 6)).not.toContain("api_key_banned");
      clock.advance(MINUTE);
    }
  });

  it("names the time at which the key is served again if the day's limit lasts longer than the ban", async () => {
    const { store, clock, issue } = openStore({ ban: AT_ONCE });
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 3, perDay: 3 } });
    const start = clock.now();
    const caller = store.as(secret);
    expect(await codes(caller, 7)).toContain("api_key_banned");
    const refusal = error(await caller.admit());
    const none = { limit: 3, remaining: 0, resetAt: start + DAY };
    expect(refusal.quota).toEqual({ ...none, minute: none, day: none });
    clock.set(start + DAY);
    expect(await codes(caller, 1)).toEqual(["ok"]);
  });

  it("is listed and lifted by the host", async () => {
    const { store, clock, id, caller, ban } = await openBannable();
    await openBannable();
    expect(value(await store.keys.list({ banned: true })).keys).toEqual([]);
    await ban();
    const [listed] = value(await store.keys.list({ banned: true })).keys;
    expect(listed).toMatchObject({ id, bannedUntil: clock.now() + MINUTE });
    expect(value(await store.keys.liftBan(id)).bannedUntil).toBeUndefined();
    expect(await codes(caller, 1)).toEqual(["rate_limit_exceeded"]);
    clock.advance(MINUTE);
    await ban();
    clock.advance(MINUTE);
    expect(value(await store.keys.list({ banned: true })).keys).toEqual([]);
    expect(await codes(caller, 1)).toEqual(["ok"]);
  });

  it("is forgotten, with the refusals before it, when it is lifted", async () => {
    const { store, id, caller } = await openBannable();
    await codes(caller, 6);
    value(await store.keys.liftBan(id));
    expect(await codes(caller, 3)).toEqual(Array<string>(3).fill("rate_limit_exceeded"));
  });

  it("shows the day's limit when that is used up", async () => {
    const { store, clock, issue } = openStore({ ban: AT_ONCE });
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 2, perDay: 3 } });
    await codes(store.as(secret), 2);
    clock.advance(MINUTE);
    expect(await codes(store.as(secret), 4)).toContain("api_key_banned");
    expect(error(await store.as(secret).admit()).quota.limit).toBe(3);
  });

  it("never happens when the host switches it off", async () => {
    const { store, issue } = openStore({ ban: false });
    const { secret } = await issue(ENTERPRISE);
    expect(await codes(store.as(secret), 50)).not.toContain("api_key_banned");
  });

  it("is neither enforced nor counted towards by a host that bans no keys", async () => {
    const storage = createMemoryStorage();
    const { store: strict, issue } = openStore({ storage, ban: AT_ONCE });
    const { store: lenient } = openStore({ storage, ban: false });
    const [banned, refused] = [await issue(ENTERPRISE), await issue(ENTERPRISE)];
    await codes(strict.as(banned.secret), 7);
    expect(await codes(lenient.as(banned.secret), 1)).toEqual(["rate_limit_exceeded"]);
    await codes(lenient.as(refused.secret), 10);
    expect(await codes(strict.as(refused.secret), 1)).toEqual(["rate_limit_exceeded"]);
  });

  it("follows the host's own rule", async () => {
    const { store, clock, issue } = openStore({
      ban: { ...AT_ONCE, afterRefusals: 1, firstSeconds: 5, forgottenAfterSeconds: 1 },
    });
    const { secret } = await issue(ENTERPRISE);
    expect(await codes(store.as(secret), 5)).toEqual([
      "ok",
      "ok",
      "ok",
      "rate_limit_exceeded",
      "api_key_banned",
    ]);
    expect(error(await store.as(secret).admit())).toMatchObject({ retryAfterSeconds: 60 });
    clock.advance(MINUTE);
    const { quota } = value(await store.as(secret).admit());
    expect(quota.day.remaining).toBe(LIMITS.perDay - 4);
  });
});
