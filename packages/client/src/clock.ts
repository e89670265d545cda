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

/** Timers of the platform fire at once beyond this. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A clock of the machine that is never set back, and its timers. */
export const systemClock: ClientClock = {
  now: () => performance.timeOrigin + performance.now(),
  startTimer: (milliseconds, callback) => {
    let left = milliseconds;
    let timer: ReturnType<typeof setTimeout>;
    const start = (): void => {
      const next = Math.min(left, LONGEST_TIMER);
      left -= next;
      timer = setTimeout(left > 0 ? start : callback, next);
    };
    start();
    return () => clearTimeout(timer);
  },
};

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
