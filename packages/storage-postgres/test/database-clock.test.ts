import { expect, it } from "vitest";
import { createDatabaseClock } from "../src/database/database-clock.js";

function createClock() {
  let time = 50_000;
  const clock = createDatabaseClock(() => time);
  return {
    now: () => clock.now(),
    advance: (milliseconds: number) => void (time += milliseconds),
    /** A statement that took this long, and read this time in its middle or `late` after it. */
    observe: (databaseTime: number, roundTrip: number, late = 0) =>
      clock.observe(databaseTime + late, time - roundTrip / 2, time + roundTrip / 2),
  };
}

const START = 1_900_000_000_000;

it("trusts the shortest round trip, and a longer one after ten seconds", () => {
  const clock = createClock();
  clock.observe(START, 2);
  clock.observe(START, 900, 400);
  expect(clock.now()).toBe(START);
  clock.advance(10_002);
  clock.observe(START + 10_002, 10, 5);
  expect(clock.now()).toBe(START + 10_007);
});

it("never goes backwards by what an observation corrects", () => {
  const clock = createClock();
  clock.observe(START + 400, 900);
  expect(clock.now()).toBe(START + 400);
  clock.observe(START, 2);
  expect(clock.now()).toBe(START + 400);
  clock.advance(500);
  expect(clock.now()).toBe(START + 500);
});

it.each([3_600_000, -3_600_000])("follows a database's clock that is set by %d ms", (step) => {
  const clock = createClock();
  clock.observe(START, 2);
  clock.now();
  clock.observe(START + step, 40);
  expect(clock.now()).toBe(START + step);
});
