import * as client from "@petstore/client";
import * as core from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { describe, expect, test } from "vitest";
import { clientOf } from "./support/stores.js";

const create = core.createManualClock;

describe("the manual clock", () => {
  test("is one, whether an application has the engine or the client alone", () => {
    expect(client.createManualClock).toBe(create);
  });

  test("calls timers back in their order, each at its time, and those that they start", async () => {
    const clock = create(1_000);
    const calls: [name: string, at: number][] = [];
    const start = (name: string, after: number, then = (): void => undefined) =>
      clock.startTimer(after, () => {
        calls.push([name, clock.now()]);
        then();
      });
    start("late", 30);
    start("early", 10, () => start("between", 10));
    const stop = start("stopped", 15);
    stop();
    start("at once", 0);
    expect(calls).toEqual([]);
    await Promise.resolve();
    clock.advance(29);
    const first = [
      ["at once", 1_000],
      ["early", 1_010],
      ["between", 1_020],
    ];
    expect([clock.now(), calls]).toEqual([1_029, first]);
    clock.advance(1);
    expect(calls).toEqual([...first, ["late", 1_030]]);
  });

  test("can be set, also back, which lets no time pass and moves no timer", () => {
    const clock = create(1_000);
    let calls = 0;
    clock.startTimer(10, () => (calls += 1));
    clock.set(5_000);
    clock.advance(-4_500);
    expect([clock.now(), clock.monotonic(), calls]).toEqual([500, 0, 0]);
    clock.advance(10);
    expect([clock.now(), clock.monotonic(), calls]).toEqual([510, 10, 1]);
  });

  test("is a clock for a store and for its clients", async () => {
    const clock = create();
    const store = core.createPetStore({ clock, plans: { tiny: { perMinute: 1, perDay: 9 } } });
    const key = (await store.keys.issue({ plan: "tiny" }))._unsafeUnwrap().secret;
    const pets = clientOf({ store, clock, key }, { fetch: createFetchHandler(store) });
    expect((await pets.listPets()).isOk()).toBe(true);
    const waiting = pets.listPets({}, { deadlineSeconds: 90 });
    await new Promise((resolve) => setTimeout(resolve));
    clock.advance(61_000);
    expect((await waiting).isOk()).toBe(true);
  });
});
