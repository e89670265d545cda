// Random histories of one key, with several stores on one storage, which stand for processes. A model predicts each outcome.
import fc from "fast-check";
import { expect, it } from "vitest";
import { createManualClock, createMemoryStorage, createPetStore } from "@petstore/core";
import type { Caller, RateLimits } from "@petstore/core";
import { seed, sized } from "../../../scripts/test-size.js";
import { DAY, HOUR, MINUTE, SECOND, value } from "./support/open-store.js";

const HISTORIES = sized(100, 2_000, 20_000);
const PROCESSES = 3;

/** Small enough to be used up within a few requests. */
const limits = fc.record({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.integer({ min: 1, max: 12 }),
});

/** Requests at once, then a change, and a pause: of milliseconds, or as long as a refusal says. */
const step = fc.record({
  process: fc.nat({ max: PROCESSES - 1 }),
  requests: fc.integer({ min: 1, max: 8 }),
  change: fc.oneof(
    { weight: 6, arbitrary: fc.constant("nothing" as const) },
    fc.constantFrom("restart" as const, "lift the ban" as const),
    limits,
  ),
  pause: fc.oneof(
    fc.constantFrom(0, 1, SECOND, SECOND + 1, MINUTE - 1, MINUTE, HOUR, DAY - 1, DAY, DAY + HOUR),
    fc.constantFrom(SECOND + 1, "Retry-After" as const),
  ),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Outcome {
  readonly code: string;
  readonly resetAt: number;
  readonly remaining?: number;
  readonly retryAfterSeconds?: number;
}

function createModel(limits: RateLimits) {
  return {
    limits,
    minute: { length: MINUTE, from: 0, used: 0 },
    day: { length: DAY, from: 0, used: 0 },
    ...{ refusedSince: 0, refusals: 0, bans: 0, bannedAt: 0 },
  };
}

function predict(key: ReturnType<typeof createModel>, now: number): Outcome {
  const { minute, day, limits } = key;
  for (const window of [minute, day]) {
    if (window.used === 0 || now >= window.from + window.length)
      Object.assign(window, { from: now, used: 0 });
  }
  // "The ban lasts 1 minute, doubling with each further ban up to 1 hour."
  const banEnd = () =>
    key.bans === 0 ? 0 : key.bannedAt + Math.min(2 ** (key.bans - 1) * MINUTE, HOUR);
  // "Forgotten after a day of good behaviour."
  if (now >= banEnd() + DAY) key.bans = 0;
  const fullUntil = Math.max(
    minute.used < limits.perMinute ? 0 : minute.from + MINUTE,
    day.used < limits.perDay ? 0 : day.from + DAY,
  );
  const refuse = (code: string, until: number) => {
    return { code, resetAt: until, retryAfterSeconds: Math.ceil((until - now) / SECOND) };
  };
  if (now < banEnd()) return refuse("api_key_banned", Math.max(banEnd(), fullUntil));
  if (fullUntil === 0) {
    // "Two per key, minute and day, taken together or not at all."
    for (const window of [minute, day]) window.used += 1;
    Object.assign(key, { refusedSince: 0, refusals: 0 });
    // "The bucket with the fewest tokens left (a tie: the later reset)."
    const perMinute = { remaining: limits.perMinute - minute.used, resetAt: minute.from + MINUTE };
    const perDay = { remaining: limits.perDay - day.used, resetAt: day.from + DAY };
    const order = perMinute.remaining - perDay.remaining || perDay.resetAt - perMinute.resetAt;
    return { code: "ok", ...(order < 0 ? perMinute : perDay) };
  }
  if (key.refusedSince === 0) key.refusedSince = now;
  // "A refusal counts only when it comes more than a second after the first of its row."
  if (now - key.refusedSince > SECOND) key.refusals += 1;
  // "After as many ignored refusals in a row as its per-minute limit."
  if (key.refusals <= limits.perMinute) return refuse("rate_limit_exceeded", fullUntil);
  Object.assign(key, { refusedSince: 0, refusals: 0, bans: key.bans + 1, bannedAt: now });
  return refuse("api_key_banned", Math.max(banEnd(), fullUntil));
}

it(`a key does what the model says in ${HISTORIES} random histories`, async () => {
  const clock = createManualClock();
  const storage = createMemoryStorage();
  const open = () => createPetStore({ storage, clock });
  const stores = Array.from({ length: PROCESSES }, open);
  const storeAt = (index: number) => stores[index % stores.length] ?? expect.unreachable();

  const play = async (own: RateLimits, steps: Iterable<Step>): Promise<void> => {
    const { key, secret } = value(await storeAt(0).keys.issue({ plan: "enterprise", limits: own }));
    const model = createModel(own);
    for (const { process, requests, change, pause } of steps) {
      const sent = Array.from({ length: requests }, (_, index) => storeAt(process + index));
      const outcomes = await Promise.all(sent.map((store) => outcomeOf(store.as(secret))));
      const expected = sent.map(() => predict(model, clock.now()));
      expect(outcomes.sort(byOutcome)).toEqual(expected.sort(byOutcome));

      const { keys } = storeAt(process);
      if (change === "restart") {
        stores[process] = open();
      } else if (change === "lift the ban") {
        value(await keys.liftBan(key.id));
        Object.assign(model, { refusedSince: 0, refusals: 0, bans: 0 });
      } else if (change !== "nothing") {
        value(await keys.changePlan(key.id, { plan: "enterprise", limits: change }));
        model.limits = change;
      }
      const retryAfter = outcomes[0]?.retryAfterSeconds ?? 0;
      clock.advance(pause === "Retry-After" ? retryAfter * SECOND : pause);
    }
  };
  const histories = fc.asyncProperty(limits, fc.array(step, { maxLength: 40, size: "max" }), play);
  await fc.assert(histories, { seed, numRuns: HISTORIES, includeErrorInReport: true });
});

async function outcomeOf(caller: Caller): Promise<Outcome> {
  return (await caller.admit()).match(
    ({ quota: { remaining, resetAt } }) => ({ code: "ok", remaining, resetAt }),
    ({ code, quota, ...error }) => ({
      ...{ code, resetAt: quota.resetAt },
      retryAfterSeconds: "retryAfterSeconds" in error ? error.retryAfterSeconds : NaN,
    }),
  );
}

/** Requests at once are served in any order. */
function byOutcome(one: Outcome, other: Outcome): number {
  const textOf = ({ code, remaining }: Outcome) => `${code} ${remaining}`;
  return textOf(one) < textOf(other) ? -1 : 1;
}
