import { describe, expect, it } from "vitest";
import { createManualClock, createMemoryStorage, createPetStore } from "@petstore/core";
import type { BanOptions } from "@petstore/core";
import { systemRandom } from "@petstore/core/internal";
import type { ResultAsync } from "neverthrow";
import { admitted, codes, DAY, error, HOUR, MINUTE, openStore } from "./support/open-store.js";
import { operations, ownLimits, rex, SECOND, value } from "./support/open-store.js";

const YEAR = 365 * DAY;
const LIMITED = ownLimits(3, 1_000_000);

async function openLimited(ban: BanOptions | false = false) {
  const opened = openStore({ ban });
  const neighbour = (await opened.issue({ plan: "pro" })).caller;
  return { ...opened, neighbour, ...(await opened.issue(LIMITED)) };
}

it("a store uses its own clock, without fractions of a millisecond, or else that of the storage", async () => {
  const clock = createManualClock();
  const storage = { ...createMemoryStorage(), clock };
  for (const options of [{ storage }, { storage, clock: undefined }]) {
    const { key } = value(await createPetStore(options).keys.issue({ plan: "free" }));
    expect(key.createdAt).toBe(clock.now());
  }
  // Under faketime, the monotonic time may go back, too.
  const monotonic = () => -performance.now();
  const own = createPetStore({ storage, clock: { now: () => 5.75, monotonic } });
  expect(value(await own.keys.issue({ plan: "free" })).key).toMatchObject({
    createdAt: 5,
    bannedUntil: undefined,
    usage: { minute: { resetAt: MINUTE + 5 } },
  });
});

describe.each<[string, BanOptions | false]>([
  ["a used-up window", false],
  ["a ban", { graceSeconds: 0 }],
])("the wall clock set back during %s", (_, ban) => {
  it.each([SECOND, HOUR, YEAR])("by %i ms grants no token twice, prolongs nothing", async (by) => {
    // A second is too short to be noticed later.
    for (const isNoticed of by === SECOND ? [true] : [true, false]) {
      const { clock, caller } = await openLimited(ban);
      expect(await admitted(caller)).toBe(3);
      clock.advance(-by);
      if (isNoticed) expect(await admitted(caller)).toBe(0);
      clock.advance(MINUTE - 1);
      expect(await admitted(caller)).toBe(0);
      clock.advance(1);
      expect(await admitted(caller)).toBe(3);
    }
  });

  it("while another key is busy prolongs nothing either", async () => {
    const { store, clock, id, caller, neighbour } = await openLimited(ban);
    expect(await admitted(caller)).toBe(3);
    clock.advance(-HOUR);
    value(await neighbour.admit());
    clock.advance(MINUTE);
    expect(value(await store.keys.find(id)).bannedUntil).toBeUndefined();
    expect(await admitted(caller)).toBe(3);
  });
});

it("the wall clock set back while another key is busy shortens no window that opens afterwards", async () => {
  const { clock, caller, neighbour } = await openLimited();
  clock.advance(-HOUR);
  value(await neighbour.admit());
  clock.advance(MINUTE / 2);
  const resetAt = clock.now() + MINUTE;
  for (const wait of [0, MINUTE / 2, 0]) {
    expect(value(await caller.admit()).quota.minute.resetAt).toBe(resetAt);
    clock.advance(wait);
  }
});

describe("the wall clock of one of two processes set back", () => {
  const AHEAD = 20;

  /** Two stores on one storage: one a little ahead of the other, which has just been set back. */
  async function openTwo(ban: BanOptions | false = false) {
    const storage = createMemoryStorage();
    const clock = createManualClock();
    let fast = HOUR;
    const ahead = createPetStore({ storage, ban, clock: { now: () => clock.now() + AHEAD } });
    const corrected = createPetStore({ storage, ban, clock: { now: () => clock.now() + fast } });
    const { secret } = value(await ahead.keys.issue({ plan: "free" }));
    corrected.anonymousQuota();
    fast = 0;
    corrected.anonymousQuota();
    return { clock, ahead: ahead.as(secret), corrected: corrected.as(secret) };
  }

  it.each([0, MINUTE, HOUR - 30 * SECOND])("grants no minute twice after %i ms", async (later) => {
    const { clock, ahead, corrected } = await openTwo();
    clock.advance(later);
    for (let minute = 0; minute < 3; minute += 1) {
      expect([await admitted(ahead, 60), await admitted(corrected, 60)]).toEqual([60, 0]);
      clock.advance(MINUTE - 1);
      expect(await admitted(corrected, 1)).toBe(0);
      clock.advance(1 + AHEAD);
    }
  });

  it("ends no ban of the other process", async () => {
    const { clock, ahead, corrected } = await openTwo({ graceSeconds: 0 });
    clock.advance(2 * MINUTE);
    expect(await admitted(ahead, 121)).toBe(60);
    expect(error(await corrected.admit()).code).toBe("api_key_banned");
    clock.advance(MINUTE + AHEAD);
    expect(await admitted(corrected, 1)).toBe(1);
  });
});

function failingAt<T extends unknown[], R>(real: (...args: T) => R) {
  let left = Infinity;
  const failing = (...args: T): R => {
    if (left-- <= 0) throw new Error("a host's own");
    return real(...args);
  };
  return { failing, failAfter: (calls: number) => void (left = calls) };
}

describe.each(["clock", "random"] as const)("a %s that fails", (which) => {
  type Opened = ReturnType<typeof openStore>["store"];
  type Row = [string, (store: Opened, secret: string, id: string) => ResultAsync<unknown, object>];
  it.each<Row>([
    ...Object.entries(operations).map(([name, call]): Row => [
      name,
      (store, secret) => call(store.as(secret)),
    ]),
    ["createPet once", (store, secret) => store.as(secret).createPet(rex, { idempotencyKey: "a" })],
    ["trusted.createPet", (store) => store.trusted.createPet(rex)],
    ["listPets without a key", (store) => store.as(undefined).listPets()],
    ["admit", (store, secret) => store.as(secret).admit()],
    ["keys.issue", (store) => store.keys.issue({ plan: "pro" })],
    ["keys.rotate", (store, _, id) => store.keys.rotate(id)],
    ["keys.revoke", (store, _, id) => store.keys.revoke(id)],
    ["keys.changePlan", (store, _, id) => store.keys.changePlan(id, { plan: "pro" })],
    ["keys.liftBan", (store, _, id) => store.keys.liftBan(id)],
    ["keys.purge", (store) => store.keys.purge({ olderThanSeconds: 0 })],
    ["keys.list", (store) => store.keys.list()],
  ])("%s resolves, and says what is stored", async (name, call) => {
    for (let calls = 0; calls < 12; calls += 1) {
      const clock = createManualClock();
      const [now, random] = [failingAt(() => clock.now()), failingAt(systemRandom)];
      const options = { clock: { now: now.failing }, random: random.failing };
      const { store, storage, issue } = openStore(options);
      const { id, secret } = await issue();
      store.events.onAny(() => undefined);
      const change = async () => {
        const keys = await storage.keys.list({ limit: 9, after: undefined, banned: false });
        const pets = await storage.pets.list({ limit: 9, after: undefined, status: undefined });
        return JSON.stringify([value(keys).map(({ key }) => key), value(pets).pets.length]);
      };
      const before = await change();
      const { failAfter } = which === "clock" ? now : random;
      failAfter(calls);
      const result = await call(store, secret, id);
      failAfter(Infinity);
      if (result.isOk()) continue;
      const code: unknown = Reflect.get(result.error, "code");
      expect(code).toMatch(/^(storage_unavailable|missing_api_key|pet_not_found)$/);
      const isKeyless = code === "missing_api_key";
      const used = isKeyless ? 1 : value(await storage.keys.find(id))?.usage.minuteUsed;
      const quota = { limit: 60, remaining: 60 - (used ?? 0) };
      if (!name.includes(".")) expect(result.error).toMatchObject({ quota });
      expect(await change()).toBe(before);
    }
  });
});

it("a clock that is set back by any amount at any time refuses nothing that was idle for a day", async () => {
  const STEPS = [1, 500, 30 * SECOND, MINUTE, HOUR, 24 * HOUR, 72 * HOUR];
  let seed = 1;
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let history = 0; history < 100; history += 1) {
    const { clock, caller, issue } = await openLimited({ graceSeconds: 0 });
    const keys = [caller, (await issue(LIMITED)).caller].map((each) => ({ each, usedAt: 0 }));
    for (let call = 0, passed = 48 * HOUR; call < 60; call += 1) {
      const step = STEPS[next(STEPS.length)] ?? 0;
      const kind = next(12);
      if (kind === 0) clock.advance(-step);
      if (kind > 7) clock.advance(step);
      if (kind > 7) passed += step;
      for (const key of keys.slice(next(2))) {
        const outcome = await key.each.admit();
        if (passed - key.usedAt > 25 * HOUR) value(outcome);
        key.usedAt = passed;
      }
    }
  }
});

it("a wall clock that is a second slower is not set back: no window ends early", async () => {
  const { clock, caller } = await openLimited();
  expect(await admitted(caller)).toBe(3);
  clock.advance(MINUTE + SECOND - 1);
  clock.set(clock.now() - SECOND);
  expect(await admitted(caller)).toBe(0);
});

it("a key that is used and refused at the time 0 was used and refused then", async () => {
  const clock = createManualClock(0);
  const { store, issue } = openStore({ clock, ban: { graceSeconds: 0, afterRefusals: 2 } });
  const { id, caller } = await issue(LIMITED);
  expect(await codes(caller, 6)).toEqual([
    ...["ok", "ok", "ok", "rate_limit_exceeded", "rate_limit_exceeded", "api_key_banned"],
  ]);
  expect(value(await store.keys.find(id)).lastUsedAt).toBeLessThanOrEqual(1);
});

it.each<[isRead: boolean, steps: readonly number[]]>([
  [true, [HOUR, 30 * SECOND - HOUR]],
  [true, [YEAR, 30 * SECOND - YEAR]],
  [true, [DAY + 5 * SECOND, 25 * SECOND - DAY]],
  [false, [HOUR, 30 * SECOND - HOUR]],
  [true, [2 * MINUTE, -90 * SECOND, -10 * SECOND]],
  [true, [2 * MINUTE, -HOUR]],
])(
  "what has ended does not revive (clock read in between: %s, moved by %j ms)",
  async (isRead, steps) => {
    const { store, clock, id, caller, neighbour } = await openLimited({ graceSeconds: 0 });
    await admitted(caller);
    for (const step of steps) {
      clock.advance(step);
      if (isRead) value(await neighbour.admit());
    }
    expect(value(await store.keys.find(id)).bannedUntil).toBeUndefined();
    expect(await admitted(caller)).toBe(3);
  },
);

it("a window that has ended stays ended when the clock is set back", async () => {
  const { store, clock, issue } = openStore({ ban: false });
  const { id, caller } = await issue(ownLimits(1, 1));
  expect(await admitted(caller)).toBe(1);
  clock.advance(MINUTE);
  expect(await admitted(caller)).toBe(0);
  clock.advance(-SECOND);
  value(await store.keys.changePlan(id, ownLimits(1, 2)));
  expect(await admitted(caller)).toBe(1);
});

it.each([
  [10_000, 10_000],
  [10_001, 0],
])("of a window opened %i ms ahead, %i ms count beyond its length", async (ahead, beyond) => {
  const storage = createMemoryStorage();
  const there = openStore({ storage, ban: false });
  const { store, clock } = openStore({ storage, ban: false });
  const { secret, caller } = await there.issue(LIMITED);
  expect(await admitted(caller)).toBe(3);
  clock.advance(-ahead);
  expect(await admitted(store.as(secret))).toBe(0);
  clock.advance(MINUTE + beyond - 1);
  expect(await admitted(store.as(secret))).toBe(0);
  clock.advance(1);
  expect(await admitted(store.as(secret))).toBe(3);
});

it.each<[number, unknown, string]>([
  ...[NaN, -1, Infinity].map((now): [number, unknown, string] => [now, 0, String(now)]),
  ...[NaN, Infinity, undefined, "a"].map((wrong): [number, unknown, string] => [5, wrong, "NaN"]),
])("a clock that returns %d and %s makes calls fail", async (now, monotonic, wrong) => {
  const clock = { now: () => now, monotonic: () => monotonic as number };
  const { keys } = createPetStore({ clock });
  const message = `The clock must return milliseconds, not ${wrong}.`;
  const refusal = error(await keys.issue({ plan: "free" }));
  expect(refusal).toMatchObject({ code: "storage_unavailable", cause: { message } });
});
