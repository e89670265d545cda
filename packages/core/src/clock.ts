/** Where the engine reads the time. */
export interface Clock {
  /** The current time in milliseconds since the Unix epoch. */
  now(): number;
}

/** A clock that stands still until it is moved: for tests, and for hosts that simulate time. */
export interface ManualClock extends Clock {
  /** Moves the clock by this many milliseconds; a negative number sets it back. */
  advance(milliseconds: number): void;
  /** Sets the clock to this many milliseconds since the Unix epoch. */
  set(milliseconds: number): void;
}

/** The machine's wall clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** A hand-moved clock, standing at `startsAt` milliseconds since the Unix epoch. */
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
