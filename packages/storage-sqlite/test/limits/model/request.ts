import { expect } from "vitest";
import { expectedOutcome, type Outcome } from "./reference-key.js";
import { engineAt, keyAt, type ModelledKey, type World } from "./world.js";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** How far apart the clocks of two processes are taken to be at most. */
const SKEW_SECONDS = 10;

/** Which engine receives a request with which secret. */
export interface RequestInput {
  readonly engine: number;
  readonly key: number;
  /** Which of the key's secrets, counted from the newest. */
  readonly age: number;
}

/** Makes a request, compares its outcome with the model's, and checks the laws. */
export async function request(world: World, input: RequestInput): Promise<Outcome> {
  const { real, expected } = prepare(world, input);
  const outcome = await real();
  expect(outcome).toEqual(expected());
  checkLaws(world, keyAt(world, input.key), outcome);
  return outcome;
}

/** Makes several requests at once and compares their outcomes in any order. */
export async function requestAtOnce(
  world: World,
  input: RequestInput,
  count: number,
): Promise<void> {
  const prepared = Array.from({ length: count }, () => prepare(world, input));
  const outcomes = await Promise.all(prepared.map(({ real }) => real()));
  const expected = prepared.map((each) => each.expected());
  expect(outcomes.map(asText).sort()).toEqual(expected.map(asText).sort());
  for (const outcome of outcomes) checkLaws(world, keyAt(world, input.key), outcome);
}

function prepare(world: World, input: RequestInput) {
  const [engine, moment] = engineAt(world, input.engine);
  const key = keyAt(world, input.key);
  const secret = Math.max(0, key.secrets.length - 1 - input.age);
  world.requests += 1;
  // Each request has its own origin, so that refused secrets never empty the origin's bucket.
  const caller = engine.store.as(key.secrets[secret], `origin ${String(world.requests)}`);
  return {
    real: async (): Promise<Outcome> =>
      (await caller.admit()).match(
        ({ quota: { remaining, resetAt } }) => ({ code: "ok", remaining, resetAt }),
        (error) => {
          if (error.code === "invalid_api_key") return { code: error.code };
          if (!("retryAfterSeconds" in error)) throw new Error(error.code);
          const { code, retryAfterSeconds, quota } = error;
          return { code, retryAfterSeconds, resetAt: quota.resetAt };
        },
      ),
    expected: (): Outcome => expectedOutcome(key.reference, secret, moment),
  };
}

/** Checks laws that hold without the rules of the model. */
function checkLaws(world: World, key: ModelledKey, outcome: Outcome): void {
  if (outcome.code === "ok") {
    key.admittedAt.push(world.elapsed);
    // However the clock is set, this many requests need at least two windows.
    expect(spanOfLast(key, 2 * key.highest.perMinute + 1)).toBeGreaterThanOrEqual(MINUTE);
    expect(spanOfLast(key, 2 * key.highest.perDay + 1)).toBeGreaterThanOrEqual(DAY);
  }
  if (outcome.code === "rate_limit_exceeded" || outcome.code === "api_key_banned") {
    // No key is locked out for longer than one window.
    expect(outcome.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(outcome.retryAfterSeconds).toBeLessThanOrEqual(DAY / 1_000 + SKEW_SECONDS);
  }
}

/** Returns the time between the first and the last of the latest `count` admitted requests. */
function spanOfLast({ admittedAt }: ModelledKey, count: number): number {
  const first = admittedAt.at(-count);
  return first === undefined ? Infinity : (admittedAt.at(-1) ?? 0) - first;
}

function asText(outcome: Outcome): string {
  return JSON.stringify(Object.entries(outcome).sort());
}
