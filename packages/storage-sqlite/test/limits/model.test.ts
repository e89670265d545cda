import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "vitest";
import { sized, seed } from "../../../../scripts/test-size.js";
import { happenings, smallLimits } from "./model/commands.js";
import { createWorld, endWorld, type World } from "./model/world.js";
import { places, type Place } from "./place.js";

const SEQUENCES = sized(10, 2_000, 20_000);
const LONGEST = 30;
/** How many histories share a place: few enough that listing its keys stays quick. */
const SHARING = 500;

const keyPlan = fc.record({
  limits: smallLimits,
  expiresAfter: fc.constantFrom(undefined, undefined, undefined, 90_000, 86_400_000),
});

describe.each(places)("keys on %s", (_, createPlace) => {
  let place: Place;
  beforeEach(() => {
    place = createPlace();
  });
  afterEach(() => place.remove());

  it(`do what the model says in ${String(SEQUENCES)} random histories`, async () => {
    let started = 0;
    const histories = fc.commands([...happenings], { maxCommands: LONGEST, size: "max" });
    await fc.assert(
      fc.asyncProperty(fc.tuple(keyPlan, keyPlan), histories, async (plans, history) => {
        if (++started % SHARING === 0) {
          place.remove();
          place = createPlace();
        }
        let world: World | undefined;
        try {
          await fc.asyncModelRun(async () => {
            world = await createWorld(place, plans);
            return { model: {}, real: world };
          }, history);
        } finally {
          if (world) await endWorld(world);
        }
      }),
      { seed, numRuns: SEQUENCES, endOnFailure: false },
    );
  });
});
