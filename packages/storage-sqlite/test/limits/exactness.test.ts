import fc from "fast-check";
import { createManualClock, createPetStore, type PetStore } from "@petstore/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sized, seed } from "../../../../scripts/test-size.js";
import { places, type Place } from "./place.js";

const PLANS = sized(6, 60, 1_000);
const MINUTE = 60_000;

/** A plan, how its calls arrive, and over how many processes. */
const bursts = fc.record({
  limits: fc.record({
    perMinute: fc.integer({ min: 1, max: 120 }),
    perDay: fc.integer({ min: 1, max: 400 }),
  }),
  engines: fc.integer({ min: 1, max: 4 }),
  together: fc.integer({ min: 1, max: 64 }),
  excess: fc.integer({ min: 1, max: 60 }),
});

describe.each(places)("any plan on %s", (_, createPlace) => {
  let place: Place;
  beforeEach(() => {
    place = createPlace();
  });
  afterEach(() => place.remove());

  it("admits exactly its minute in every window and exactly its day in all of them", async () => {
    await fc.assert(
      fc.asyncProperty(bursts, async ({ limits, engines, together, excess }) => {
        const clock = createManualClock();
        const stores = await openStores(engines);
        const secrets = await issueWithTwoSecrets(stores, limits);
        let total = 0;
        while (total < limits.perDay) {
          const expected = Math.min(limits.perMinute, limits.perDay - total);
          expect(await admitted(stores, secrets, expected + excess, together)).toBe(expected);
          total += expected;
          clock.advance(MINUTE);
        }
        expect(await admitted(stores, secrets, excess, together)).toBe(0);
        for (const store of stores) await store.close();

        async function openStores(count: number): Promise<PetStore[]> {
          const open = async () =>
            createPetStore({ storage: await place.open(), clock, ban: false });
          return Promise.all(Array.from({ length: count }, open));
        }
      }),
      { seed, numRuns: PLANS },
    );
  });
});

/** A key in the middle of a rotation: both of its secrets share one quota. */
async function issueWithTwoSecrets(
  [store]: readonly PetStore[],
  limits: { readonly perMinute: number; readonly perDay: number },
): Promise<readonly string[]> {
  const issued = await store?.keys.issue({ plan: "enterprise", limits });
  const { key, secret } = issued?._unsafeUnwrap() ?? expect.unreachable();
  const rotated = await store?.keys.rotate(key.id, { overlapSeconds: 31_536_000 });
  return [secret, rotated?._unsafeUnwrap().secret ?? expect.unreachable()];
}

/** Makes `calls` calls, `together` at a time, over all stores and secrets. Resolves to the number admitted. */
async function admitted(
  stores: readonly PetStore[],
  secrets: readonly string[],
  calls: number,
  together: number,
): Promise<number> {
  let made = 0;
  let count = 0;
  const work = async (worker: number): Promise<void> => {
    const caller = stores[worker % stores.length]?.as(secrets[worker % secrets.length]);
    while (made < calls) {
      made += 1;
      if ((await caller?.admit())?.isOk()) count += 1;
    }
  };
  await Promise.all(Array.from({ length: together }, (_, worker) => work(worker)));
  return count;
}
