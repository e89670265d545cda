import {
  createManualClock,
  createPetStore,
  type Caller,
  type Clock,
  type ManualClock,
  type PetStore,
} from "@petstore/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { openStorage } from "../open-storage.js";
import { useFolder } from "../temporary-folder.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const LIMITS = { perMinute: 30, perDay: 1_000_000 };

const folder = useFolder();
let clock: ManualClock;
let store: PetStore;
let secret: string;
beforeEach(async () => {
  clock = createManualClock();
  store = await openStore(clock);
  const issued = await store.keys.issue({ plan: "enterprise", limits: LIMITS });
  secret = issued._unsafeUnwrap().secret;
});
afterEach(async () => {
  await store.close();
});

async function openStore(itsClock: Clock): Promise<PetStore> {
  const storage = await openStorage({ filename: folder.path("pets.db") });
  return createPetStore({ storage, clock: itsClock, ban: false });
}

async function restart(): Promise<void> {
  await store.close();
  store = await openStore(clock);
}

/** Makes this many calls at once. Resolves to the number admitted. */
async function admitted(caller: Caller, calls = 2 * LIMITS.perMinute): Promise<number> {
  const results = await Promise.all(Array.from({ length: calls }, () => caller.admit()));
  return results.filter((result) => result.isOk()).length;
}

describe.each([SECOND, HOUR, YEAR])("the clock set back by %i ms between two runs", (step) => {
  it("grants no token twice and locks no key out for longer than one window", async () => {
    expect(await admitted(store.as(secret))).toBe(LIMITS.perMinute);
    clock.advance(-step);
    await restart();
    expect(await admitted(store.as(secret))).toBe(0);
    // A start slightly ahead may come from another process, so it is kept for these seconds.
    clock.advance(MINUTE + Math.min(step, 10 * SECOND));
    expect(await admitted(store.as(secret))).toBe(LIMITS.perMinute);
  });

  it("and forward again refills once, however often", async () => {
    expect(await admitted(store.as(secret))).toBe(LIMITS.perMinute);
    for (let swing = 0; swing < 5; swing += 1) {
      clock.advance(-step);
      await restart();
      expect(await admitted(store.as(secret))).toBe(0);
      clock.advance(SECOND);
      expect(await admitted(store.as(secret))).toBe(0);
    }
    clock.advance(MINUTE + 10 * SECOND);
    expect(await admitted(store.as(secret))).toBe(LIMITS.perMinute);
    clock.advance(10 * YEAR);
    expect(await admitted(store.as(secret))).toBe(LIMITS.perMinute);
  });
});

it("a window that has ended stays ended when the clock is set back", async () => {
  const limits = { perMinute: 1, perDay: 1 };
  const issued = (await store.keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
  const caller = store.as(issued.secret);
  expect(await admitted(caller, 2)).toBe(1);
  clock.advance(MINUTE);
  expect(await admitted(caller, 1)).toBe(0);
  clock.advance(-SECOND);
  const raised = { plan: "enterprise", limits: { perMinute: 1, perDay: 2 } };
  (await store.keys.changePlan(issued.key.id, raised))._unsafeUnwrap();
  expect(await admitted(caller, 2)).toBe(1);
});

describe.each([5, -5])("two processes whose clocks differ by %i s", (seconds) => {
  const SPAN_SECONDS = sized(180, 600, 6_000);

  it("together grant every token of the plan, and none twice", async () => {
    const other = await openStore({ now: () => clock.now() + seconds * SECOND });
    const callers = [store, other].map((each) => each.as(secret));
    const grants: number[] = [];
    for (let second = 0; second < SPAN_SECONDS; second += 1) {
      // The two take turns in coming first, and sometimes one of them is idle.
      const order = second % 3 === 0 ? callers : callers.toReversed();
      const awake = second % 90 < 45 ? order : order.slice(0, 1);
      let count = 0;
      for (const caller of awake) count += await admitted(caller, 2 * LIMITS.perMinute);
      grants.push(count);
      clock.advance(SECOND);
    }
    await other.close();

    // No window is granted in part, or more than once.
    expect(grants.filter((count) => count !== 0 && count !== LIMITS.perMinute)).toEqual([]);
    const openings = grants.flatMap((count, second) => (count === 0 ? [] : [second]));
    // One clock opens a window, the other may end it: in all, windows shorten by their difference
    // once, and never twice in a row.
    openings.forEach((second, index) => {
      expect(second).toBeGreaterThanOrEqual(index * 60 - 5);
    });
    expect(openings.length).toBeGreaterThanOrEqual(SPAN_SECONDS / 65);
    expect(openings.length).toBeLessThanOrEqual(SPAN_SECONDS / 60 + 1);
  });

  it("share one window when they call at the same time", async () => {
    const other = await openStore({ now: () => clock.now() + seconds * SECOND });
    const counts = await Promise.all(
      [store, other, store, other].map((each) => admitted(each.as(secret))),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(LIMITS.perMinute);
    await other.close();
  });
});
