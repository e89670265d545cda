import type { Clock } from "./clock.js";

/** A clock that only moves when it is told to: for tests of a store and of its clients, and for hosts that simulate time. */
export interface ManualClock extends Clock {
  monotonic(): number;
  /**
   * Calls back once, in a later turn, after this many milliseconds (0: without waiting). Setting the clock moves no
   * timer. Returns a cancelling function.
   */
  startTimer(milliseconds: number, callback: () => void): () => void;
  /** Lets these milliseconds pass and calls the timers on the way, in order. If negative, sets the clock back. */
  advance(milliseconds: number): void;
  /** Sets the clock to this many milliseconds since the Unix epoch; no time passes. */
  set(milliseconds: number): void;
}

/** Creates a manual clock that starts at `startsAt`, in milliseconds since the Unix epoch. */
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
