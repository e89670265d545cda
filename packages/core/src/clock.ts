/** The engine's source of time. */
export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
}

/** A clock that only moves when it is told to: for tests, and for hosts that simulate time. */
export interface ManualClock extends Clock {
  /** Moves the clock by this many milliseconds; a negative number sets it back. */
  advance(milliseconds: number): void;
  /** Sets the clock to this many milliseconds since the Unix epoch. */
  set(milliseconds: number): void;
}

/** The machine's wall clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Creates a manual clock that starts at `startsAt`, in milliseconds since the Unix epoch. */
export function createManualClock(startsAt = Date.UTC(2030, 0, 1)): ManualClock {
  let current = startsAt;
  return {
    now: () => current,
    advance: (milliseconds) => {
      current += milliseconds;
    },
    set: (milliseconds) => {
      current = milliseconds;
    },
  };
}

/** One reading of a clock. All times are whole milliseconds since the Unix epoch. */
export interface ClockReading {
  readonly now: number;
  /** The latest time this process has read; later than `now` only if the clock was set back. */
  readonly latest: number;
  /** The first time read after the clock was last set back, or 0 if it never was. */
  readonly setBackTo: number;
}

/**
 * Reads the clock.
 * @throws TypeError when the clock does not return a time since 1970.
 */
export type ReadClock = () => ClockReading;

/** Creates a function that reads this clock and detects when it was set back. */
export function createClockReader(clock: Clock): ReadClock {
  let last = 0;
  let latest = 0;
  let setBackTo = 0;
  return () => {
    const now = Math.floor(clock.now());
    if (!Number.isSafeInteger(now) || now < 0) {
      throw new TypeError(`The clock must return milliseconds since 1970, not ${now}.`);
    }
    if (now < last) setBackTo = now;
    last = now;
    latest = Math.max(latest, now);
    return { now, latest, setBackTo };
  };
}
