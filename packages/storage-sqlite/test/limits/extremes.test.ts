import { createManualClock, createPetStore, type PetStore } from "@petstore/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { places, type Place } from "./place.js";

const MAX = Number.MAX_SAFE_INTEGER;
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const TEN_YEARS = 3_653 * DAY;

describe.each(places)("at the extremes of the allowed values, on %s", (_, createPlace) => {
  const clock = createManualClock();
  let place: Place;
  let store: PetStore;
  beforeEach(async () => {
    place = createPlace();
    store = createPetStore({ storage: await place.open(), clock });
  });
  afterEach(async () => {
    await store.close();
    place.remove();
  });

  it("the 2^53−1st request of a window is admitted, and the next is refused", async () => {
    const limits = { perMinute: MAX, perDay: MAX };
    const { key, secret } = (
      await store.keys.issue({ plan: "enterprise", limits })
    )._unsafeUnwrap();
    const first = (await store.as(secret).admit())._unsafeUnwrap();
    expect(first.quota.remaining).toBe(MAX - 1);

    const storage = await place.open();
    const used = await storage.usage.update(key.id, (usage) => ({
      next: usage && { ...usage, minuteUsed: MAX - 1, dayUsed: MAX - 1 },
      result: undefined,
    }));
    used._unsafeUnwrap();
    await storage.close();

    expect((await store.as(secret).admit())._unsafeUnwrap().quota.remaining).toBe(0);
    const refusal = (await store.as(secret).admit())._unsafeUnwrapErr();
    expect(refusal).toMatchObject({ code: "rate_limit_exceeded", quota: { remaining: 0 } });
    clock.advance(DAY);
    expect((await store.as(secret).admit())._unsafeUnwrap().quota.remaining).toBe(MAX - 1);
  });

  it("ten idle years refill the buckets once", async () => {
    const limits = { perMinute: 3, perDay: 5 };
    const { key, secret } = (
      await store.keys.issue({ plan: "enterprise", limits })
    )._unsafeUnwrap();
    for (const expected of [3, 3]) {
      const calls = Array.from({ length: 6 }, () => store.as(secret).admit());
      const results = await Promise.all(calls);
      expect(results.filter((result) => result.isOk())).toHaveLength(expected);
      clock.advance(TEN_YEARS);
      expect((await store.keys.usage(key.id))._unsafeUnwrap()).toEqual({
        minute: { limit: 3, remaining: 3, resetAt: clock.now() + MINUTE },
        day: { limit: 5, remaining: 5, resetAt: clock.now() + DAY },
      });
    }
  });

  it("no operation of the engine sets a timer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    try {
      const limits = { perMinute: 2, perDay: 5 };
      const { key, secret } = (
        await store.keys.issue({ plan: "enterprise", limits, expiresAt: clock.now() + DAY })
      )._unsafeUnwrap();
      for (let call = 0; call < 8; call += 1) await store.as(secret).listPets();
      for (const bad of [undefined, "bad", `${secret}x`]) await store.as(bad, "here").listPets();
      await store.keys.rotate(key.id, { overlapSeconds: 60 });
      await store.keys.liftBan(key.id);
      await store.keys.revoke(key.id);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
