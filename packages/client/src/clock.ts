export interface ClientClock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once, in a later turn, after so many milliseconds (0: without waiting). Returns a cancelling function. */
  startTimer(milliseconds: number, callback: () => void): () => void;
}

export function startWait(clock: ClientClock, milliseconds: number) {
  let stop: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (stop = clock.startTimer(milliseconds, resolve)));
  return { passed, stop };
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
