import type { ManualClock } from "@petstore/core";

/** The client's source of time. */
export interface ClientClock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Calls back once, in a later turn, after this many milliseconds; after 0 without waiting. Returns a
   * function that cancels it.
   */
  startTimer(milliseconds: number, callback: () => void): () => void;
}

/** The platform's timers stand still while the machine sleeps, so that a longer one is looked at again. */
const LONGEST_TIMER = 60_000;

/** A smaller step of the wall clock is rounding or a correction, and no sleep. */
const SHORTEST_SLEEP = 1_000;

/** Creates a clock of the machine that is never set back, and goes on while the machine sleeps, and its timers. */
export function createSystemClock(): ClientClock {
  const ahead = (): number => Date.now() - performance.now();
  let offset = ahead();
  let difference = offset;

  /** The monotonic clock stands still during sleep, after which the wall clock is further ahead of it. */
  const now = (): number => {
    const step = ahead() - difference;
    if (Math.abs(step) >= SHORTEST_SLEEP) {
      difference += step;
      offset += Math.max(0, step);
    }
    return offset + performance.now();
  };
  return {
    now,
    startTimer: (milliseconds, callback) => {
      const end = now() + milliseconds;
      let timer: ReturnType<typeof setTimeout>;
      const wait = (left: number): void => {
        const next = left > LONGEST_TIMER ? () => wait(end - now()) : callback;
        timer = setTimeout(next, Math.min(left, LONGEST_TIMER));
      };
      wait(milliseconds);
      return () => clearTimeout(timer);
    },
  };
}

/**
 * Creates a manual clock that starts at `startsAt`, in milliseconds since the Unix epoch. It is the same as that of
 * `@petstore/core`, which an application without a store does not need: each is a clock for stores and clients.
 */
export function createManualClock(startsAt = Date.UTC(2030, 0, 1)): ManualClock {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let current = startsAt;
  let passed = 0;

  const next = (end: number) =>
    [...timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)[0];
  const pass = (milliseconds: number): void => {
    current += milliseconds;
    passed += milliseconds;
  };
  return {
    now: () => current,
    monotonic: () => passed,
    startTimer: (milliseconds, callback) => {
      const timer = { at: passed + milliseconds, callback };
      timers.add(timer);
      if (milliseconds <= 0) {
        void Promise.resolve().then(() => timers.delete(timer) && callback());
      }
      return () => void timers.delete(timer);
    },
    advance: (milliseconds) => {
      if (milliseconds < 0) current += milliseconds;
      const end = passed + Math.max(0, milliseconds);
      for (let timer = next(end); timer !== undefined; timer = next(end)) {
        timers.delete(timer);
        pass(Math.max(0, timer.at - passed));
        timer.callback();
      }
      pass(Math.max(0, end - passed));
    },
    set: (milliseconds) => {
      current = milliseconds;
    },
  };
}
