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

/** Creates a clock of the machine that is never set back, and goes on while the machine sleeps, and its timers. */
export function createSystemClock(): ClientClock {
  let current = Date.now();
  let [wall, monotonic] = [current, performance.now()];

  /** The monotonic clock stands still during sleep, and the wall clock can be set back: the larger step counts. */
  const now = (): number => {
    const [nextWall, nextMonotonic] = [Date.now(), performance.now()];
    current += Math.max(nextWall - wall, nextMonotonic - monotonic);
    [wall, monotonic] = [nextWall, nextMonotonic];
    return current;
  };
  return {
    now,
    startTimer: (milliseconds, callback) => {
      const end = now() + milliseconds;
      let timer: ReturnType<typeof setTimeout>;
      const start = (): void => {
        const left = end - now();
        if (left <= 0 && milliseconds > 0) callback();
        else
          timer = setTimeout(
            left > 0 ? start : callback,
            Math.max(0, Math.min(left, LONGEST_TIMER)),
          );
      };
      start();
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
