import { describe, expect, it } from "vitest";
import {
  createMemoryStorage,
  type BanOptions,
  type IssueKeyInput,
  type Plan,
} from "@petstore/core";
import { admitted, error, openStore, value } from "./support/open-store.js";

const MINUTE = 60_000;
const DAY = 86_400_000;
const limits = { perMinute: 3, perDay: 7 };

describe("plans", () => {
  it.each([
    ["free", 60, 1_000],
    ["pro", 300, 10_000],
    ["business", 1_000, 100_000],
  ])("%s admits %i a minute and %i a day, exactly", async (plan, perMinute, perDay) => {
    const { store, clock, issue } = openStore({ ban: false });
    const { secret } = await issue({ plan });
    const caller = store.as(secret);
    expect(await admitted(caller, perMinute + 1)).toBe(perMinute);
    let total = perMinute;
    while (total < perDay) {
      clock.advance(MINUTE);
      const count = await admitted(caller, perMinute + 1);
      if (total + count < perDay) expect(count).toBe(perMinute);
      total += count;
    }
    expect(total).toBe(perDay);
    clock.advance(MINUTE);
    expect(error(await caller.admit())).toMatchObject({
      code: "rate_limit_exceeded",
      quota: { limit: perDay, remaining: 0 },
    });
  });

  it.each<[string, IssueKeyInput]>([
    ["enterprise, as its key was issued", { plan: "enterprise", limits }],
    ["the host's own", { plan: "trial" }],
    ["the host's own that leaves the limits to each key", { plan: "partner", limits }],
  ])("%s: admits exactly its limits", async (_, input) => {
    const { store, issue } = openStore({ plans: { trial: limits, partner: "custom" } });
    const { secret } = await issue(input);
    expect(await admitted(store.as(secret), 5)).toBe(3);
  });

  it("a plan whose limits the host has changed binds its keys with the new ones", async () => {
    const storage = createMemoryStorage();
    const before = openStore({ storage, plans: { trial: { perMinute: 2, perDay: 5 } } });
    const { store } = openStore({ storage, plans: { trial: limits } });
    const { id, secret } = await before.issue({ plan: "trial" });
    expect(value(await store.keys.find(id)).limits).toEqual(limits);
    expect(await admitted(store.as(secret), 5)).toBe(3);
  });

  it.each<[what: string, free: Plan, limit: number]>([
    ["the host's own Free limits", { perMinute: 5, perDay: 50 }, 5],
    ["the standard ones where each Free key has its own", "custom", 60],
  ])("callers without a key have %s", (_, free, limit) => {
    expect(openStore({ plans: { free } }).store.anonymousQuota(undefined).limit).toBe(limit);
  });

  it("remaining falls by one with each request, and the limit that binds is shown", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 3, perDay: 5 } });
    const caller = store.as(secret);
    const start = clock.now();
    const quotas = [];
    for (let request = 0; request < 3; request += 1) {
      quotas.push(value(await caller.listPets()).quota);
      clock.advance(1_000);
    }
    expect(quotas).toEqual(
      [2, 1, 0].map((remaining) => {
        const minute = { limit: 3, remaining, resetAt: start + MINUTE };
        const day = { limit: 5, remaining: remaining + 2, resetAt: start + DAY };
        return { ...minute, minute, day };
      }),
    );
    clock.set(start + MINUTE);
    const minute = { limit: 3, remaining: 2, resetAt: start + 2 * MINUTE };
    const day = { limit: 5, remaining: 1, resetAt: start + DAY };
    expect(value(await caller.listPets()).quota).toEqual({ ...day, minute, day });
  });

  it.each([
    [MINUTE + 1, 3],
    [MINUTE, 3],
    [MINUTE - 1, 2],
  ])(
    "of two equally empty windows the one that resets later is shown: %i ms before the day ends, limit %i",
    async (before, limit) => {
      const { store, clock, issue } = openStore();
      const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 2, perDay: 3 } });
      value(await store.as(secret).admit());
      clock.advance(DAY - before);
      const { quota } = value(await store.as(secret).admit());
      const resetAt = clock.now() + Math.max(before, MINUTE);
      expect(quota).toMatchObject({ limit, remaining: 1, resetAt });
    },
  );

  it.each<[string, BanOptions | false, number[]]>([
    ["a key that is never banned", false, [0, 0, 0, 0]],
    ["requests under way", {}, [0, 0, 0, 0, 0]],
    ["a ban", { graceSeconds: 0 }, Array<number>(8).fill(0)],
    ["an unused minute", false, [0, 0, 0, MINUTE, 1]],
  ])("a refusal is stored only if it changes the usage: %s", async (_, ban, waits) => {
    const inner = createMemoryStorage();
    const isStored: boolean[] = [];
    const charge: typeof inner.usage.charge = (digest, decide) =>
      inner.usage.charge(digest, (presented) => {
        const step = decide(presented);
        isStored.push(step.next !== presented?.usage);
        return step;
      });
    const storage = { ...inner, usage: { ...inner.usage, charge } };
    const { store, clock, issue } = openStore({ storage, ban });
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 3, perDay: 3 } });
    for (const wait of waits) {
      clock.advance(wait);
      await store.as(secret).admit();
    }
    expect(isStored).toEqual(waits.map((__, index) => index < waits.length - 1));
  });

  it("a refusal takes nothing from either window", async () => {
    const { store, clock, issue } = openStore({ ban: false });
    const { id, secret } = await issue({
      plan: "enterprise",
      limits: { perMinute: 2, perDay: 3 },
    });
    const caller = store.as(secret);
    await admitted(caller, 10);
    clock.advance(MINUTE);
    expect(value(await store.keys.find(id)).usage.day.remaining).toBe(1);
    expect(await admitted(caller, 10)).toBe(1);
    expect(value(await store.keys.find(id)).usage.minute.remaining).toBe(1);
  });

  it("a window opens with its first request, not with the clock's minute", async () => {
    const { store, clock, issue } = openStore({ ban: false });
    const { secret } = await issue();
    const caller = store.as(secret);
    clock.advance(59_999);
    expect(await admitted(caller, 61)).toBe(60);
    clock.advance(MINUTE - 1);
    expect(error(await caller.admit())).toMatchObject({ retryAfterSeconds: 1 });
    clock.advance(1);
    expect(await admitted(caller, 61)).toBe(60);
  });

  it("every operation takes one token, also when it fails", async () => {
    const { store, issue } = openStore();
    const { secret } = await issue();
    const caller = store.as(secret);
    const quotas = [
      value(await caller.listPets()).quota,
      value(await caller.createPet({ name: "Rex", categoryId: 1n })).quota,
      value(await caller.getPet(1n)).quota,
      error(await caller.listPets({ limit: 0 })).quota,
      error(await caller.createPet({ name: "\0", categoryId: 1n })).quota,
      error(await caller.getPet(99n)).quota,
    ];
    expect(quotas.map(({ remaining }) => remaining)).toEqual([59, 58, 57, 56, 55, 54]);
  });

  it("an admission is charged once, also if several operations are performed on it", async () => {
    const { store, issue } = openStore();
    const { id, secret } = await issue();
    const admission = value(await store.as(secret).admit());
    expect(admission.keyId).toBe(id);
    const rex = { name: "Rex", categoryId: 1n };
    const { pet } = value(await admission.createPet(rex));
    expect(pet).toMatchObject(rex);
    expect(value(await admission.getPet(pet.id)).pet).toEqual(pet);
    expect(value(await admission.listPets())).toMatchObject({
      ...{ pets: [pet], keyId: id, plan: "free", quota: { remaining: 59 } },
    });
    expect(value(await store.keys.find(id)).usage.minute.remaining).toBe(59);
  });

  it("the host itself needs no key and has no limit", async () => {
    const { store } = openStore();
    for (let request = 0; request < 100; request += 1) value(await store.trusted.listPets());
  });
});
