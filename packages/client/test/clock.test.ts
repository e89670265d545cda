import * as client from "@petstore/client";
import { createManualClock as create } from "@petstore/core";
import { afterEach, expect, test, vi } from "vitest";
import { ANY } from "./support/stores.js";

afterEach(() => vi.restoreAllMocks());

/** The machine's clocks: each reading takes half a millisecond, which the wall clock rounds off. */
function setMachineClocks() {
  const start = Date.UTC(2030, 0, 1);
  let [monotonic, ahead] = [0, start];
  vi.spyOn(performance, "now").mockImplementation(() => (monotonic += 0.5));
  vi.spyOn(Date, "now").mockImplementation(() => Math.floor(ahead + monotonic));
  return {
    monotonic: () => monotonic,
    /** Moves the wall clock only, as a machine's sleep or its administrator does. */
    moveWall: (milliseconds: number) => void (ahead += milliseconds),
    pass: (milliseconds: number) => void (monotonic += milliseconds),
    /** A response after which nothing is left for this many seconds. */
    usedUp: (seconds: number) => {
      const reset = { "X-RateLimit-Reset": String(start / 1_000 + seconds) };
      const left = { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0" };
      const headers = { ...left, ...reset, Date: new Date(start).toUTCString() };
      return new Response("[]", { headers });
    },
  };
}

test.each([
  ["goes on while the machine sleeps", 3_000, 0, 2],
  ["stands still when the wall clock is set back", -3_600_000, 0, 1],
  ["goes on after the wall clock is set back", -3_600_000, 3_000, 2],
])("the gate's clock %s", async (_, wall, both, requests) => {
  const machine = setMachineClocks();
  const fetch = vi.fn(() => Promise.resolve(machine.usedUp(3)));
  const pets = client.createPetsClient({ ...ANY, fetch, deadlineSeconds: 1 });
  await pets.listPets();
  machine.moveWall(wall);
  machine.pass(both);
  await pets.listPets();
  expect(fetch).toHaveBeenCalledTimes(requests);
});

test("the gate's clock is not fast, however often it is read", async () => {
  const machine = setMachineClocks();
  const sent: number[] = [];
  const fetch = () => {
    sent.push(machine.monotonic());
    return Promise.resolve(machine.usedUp(2));
  };
  const pets = client.createPetsClient({ ...ANY, fetch });
  while (sent.length < 2) await pets.listPets({}, { deadlineSeconds: 0 });
  const [first = 0, second = 0] = sent;
  expect(second - first).toBeGreaterThan(1_990);
});

test("the manual clock, one with or without the engine, calls timers back in their order, each at its time, and those that they start", async () => {
  expect(client.createManualClock).toBe(create);
  const clock = create(1_000);
  const calls: [name: string, at: number][] = [];
  const start = (name: string, after: number, then = (): void => undefined) =>
    clock.startTimer(after, () => {
      calls.push([name, clock.now()]);
      then();
    });
  start("late", 30);
  start("early", 10, () => start("between", 10));
  start("stopped", 15)();
  start("at once", 0);
  expect(calls).toEqual([]);
  await Promise.resolve();
  clock.advance(29);
  const first = Object.entries({ "at once": 1_000, early: 1_010, between: 1_020 });
  expect([clock.now(), calls]).toEqual([1_029, first]);
  clock.advance(1);
  expect(calls).toEqual([...first, ["late", 1_030]]);
});

test("the manual clock can be set, also back, which lets no time pass and moves no timer", () => {
  const clock = create(1_000);
  let calls = 0;
  clock.startTimer(10, () => (calls += 1));
  clock.set(5_000);
  clock.advance(-4_500);
  expect([clock.now(), clock.monotonic(), calls]).toEqual([500, 0, 0]);
  clock.advance(10);
  expect([clock.now(), clock.monotonic(), calls]).toEqual([510, 10, 1]);
});
