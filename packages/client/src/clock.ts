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

/** A clock that only moves when it is told to. It is also a clock for `createPetStore`. */
export interface ManualClientClock extends ClientClock {
  /** Moves the clock forward by this many milliseconds, and calls back the timers on the way, in their order. */
  advance(milliseconds: number): void;
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

/** Creates a manual clock that starts at `startsAt`, in milliseconds since the Unix epoch. */
export function createManualClock(startsAt = Date.UTC(2030, 0, 1)): ManualClientClock {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let current = startsAt;

  const next = (end: number) =>
    [...timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)[0];
  return {
    now: () => current,
    startTimer: (milliseconds, callback) => {
      const timer = { at: current + milliseconds, callback };
      timers.add(timer);
      if (milliseconds <= 0) {
        void Promise.resolve().then(() => timers.delete(timer) && callback());
      }
      return () => timers.delete(timer);
    },
    advance: (milliseconds) => {
      const end = current + milliseconds;
      for (let timer = next(end); timer !== undefined; timer = next(end)) {
        timers.delete(timer);
        current = Math.max(current, timer.at);
        timer.callback();
      }
      current = end;
    },
  };
}
