import { expect } from "vitest";
import { ask, type Answer } from "./reference-key.js";
import { engineAt, keyAt, type ModelledKey, type World } from "./world.js";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** How far apart the clocks of two processes are taken to be at most. */
const SKEW_SECONDS = 10;

/** Who asks whom. */
export interface Asking {
  readonly engine: number;
  readonly key: number;
  /** Which of the key's secrets, counted from the newest. */
  readonly age: number;
}

/** Makes a request, compares its answer with the model's, and looks after what must always hold. */
export async function request(world: World, asking: Asking): Promise<Answer> {
  const { real, expected } = prepare(world, asking);
  const answer = await real();
  expect(answer).toEqual(expected());
  checkLaws(world, keyAt(world, asking.key), answer);
  return answer;
}

/** Makes several requests at once; which of them is answered what is open. */
export async function requestAtOnce(world: World, asking: Asking, count: number): Promise<void> {
  const prepared = Array.from({ length: count }, () => prepare(world, asking));
  const answers = await Promise.all(prepared.map(({ real }) => real()));
  const expected = prepared.map((each) => each.expected());
  expect(answers.map(asText).sort()).toEqual(expected.map(asText).sort());
  for (const answer of answers) checkLaws(world, keyAt(world, asking.key), answer);
}

function prepare(world: World, asking: Asking) {
  const [engine, moment] = engineAt(world, asking.engine);
  const key = keyAt(world, asking.key);
  const secret = Math.max(0, key.secrets.length - 1 - asking.age);
  world.requests += 1;
  // An origin of its own, so that refused secrets never run out of their bucket.
  const caller = engine.store.as(key.secrets[secret], `origin ${String(world.requests)}`);
  return {
    real: async (): Promise<Answer> =>
      (await caller.admit()).match(
        ({ quota: { remaining, resetAt } }) => ({ code: "ok", remaining, resetAt }),
        (error) => {
          if (error.code === "invalid_api_key") return { code: error.code };
          if (!("retryAfterSeconds" in error)) throw new Error(error.code);
          const { code, retryAfterSeconds, quota } = error;
          return { code, retryAfterSeconds, resetAt: quota.resetAt };
        },
      ),
    expected: (): Answer => ask(key.reference, secret, moment),
  };
}

/** What holds whatever the model says, told without any of its rules. */
function checkLaws(world: World, key: ModelledKey, answer: Answer): void {
  if (answer.code === "ok") {
    key.admittedAt.push(world.elapsed);
    // However the clock is set: of so many requests, two windows were opened on the way.
    expect(spanOfLast(key, 2 * key.highest.perMinute + 1)).toBeGreaterThanOrEqual(MINUTE);
    expect(spanOfLast(key, 2 * key.highest.perDay + 1)).toBeGreaterThanOrEqual(DAY);
  }
  if (answer.code === "rate_limit_exceeded" || answer.code === "api_key_banned") {
    // Nobody is locked out for longer than one window.
    expect(answer.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(answer.retryAfterSeconds).toBeLessThanOrEqual(DAY / 1_000 + SKEW_SECONDS);
  }
}

/** The time from the first to the last of so many requests admitted last. */
function spanOfLast({ admittedAt }: ModelledKey, count: number): number {
  const first = admittedAt.at(-count);
  return first === undefined ? Infinity : (admittedAt.at(-1) ?? 0) - first;
}

function asText(answer: Answer): string {
  return JSON.stringify(Object.entries(answer).sort());
}
