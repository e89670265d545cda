import { inspect } from "node:util";

/** The engine's source of time. */
export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Returns the milliseconds since any fixed moment, whether the clock is set meanwhile or not. With it, the time
   * between two calls counts although the clock was set back in between.
   */
  monotonic?(): number;
}

/** A clock that only moves when it is told to: for tests of a store and of its clients, and for hosts that simulate time. */
export interface ManualClock extends Clock {
  monotonic(): number;
  /**
   * Calls back once, in a later turn, when this many milliseconds have passed; after 0 without waiting. Returns a function
   * that cancels it. Setting the clock moves no timer.
   */
  startTimer(milliseconds: number, callback: () => void): () => void;
  /**
   * Lets this many milliseconds pass, and calls back the timers on the way, in their order. A negative number sets the
   * clock back.
   */
  advance(milliseconds: number): void;
  /** Sets the clock to this many milliseconds since the Unix epoch; no time passes. */
  set(milliseconds: number): void;
}

/** The machine's wall clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

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

/** One reading of a clock. All times are whole milliseconds since the Unix epoch. */
export interface ClockReading {
  readonly now: number;
  /** The latest time this process has read; later than `now` only if the clock was set back. */
  readonly latest: number;
  /** How the clock was set back, the last time first; without those that it has caught up with since. */
  readonly setBacks: readonly SetBack[];
}

/** How a clock was set back between two readings. */
export interface SetBack {
  /** The time that the second reading would have been without it. */
  readonly from: number;
  /** The time of the second reading. */
  readonly to: number;
  /** How many milliseconds passed between the two, as far as the clock knows. */
  readonly unread: number;
}

/**
 * Reads the clock.
 * @throws TypeError when the clock does not return milliseconds (since 1970), or whatever the clock throws.
 */
export type ReadClock = () => ClockReading;

/** Reads of one clock. */
export interface ClockReader {
  readonly readClock: ReadClock;
  /** Reads the clock, too, but returns the last good reading when the clock fails. Never throws. */
  readonly lastReading: () => ClockReading;
}

/** The latest time that a `Date` can represent. */
export const MAX_TIME = 8_640_000_000_000_000;

/** By how much the two times of a clock may drift apart without its having been set back, in milliseconds. */
const DRIFT = 1_000;

/** Creates the reader of this clock, which detects when it was set back. */
export function createClockReader(clock: Clock): ClockReader {
  let last: ClockReading = { now: 0, latest: 0, setBacks: [] };
  let lastMonotonic: number | undefined;

  const readClock = (): ClockReading => {
    const now = wholeMilliseconds(clock.now());
    const monotonic = clock.monotonic === undefined ? 0 : clock.monotonic();
    const unread = wholeMilliseconds(Math.max(0, monotonic - (lastMonotonic ?? monotonic)));
    const from = last.now + unread;
    const isSetBack = now < last.now || now < from - DRIFT;
    last = {
      now,
      latest: Math.max(last.latest, now),
      setBacks: isSetBack ? withSetBack({ from, to: now, unread }, last.setBacks) : last.setBacks,
    };
    lastMonotonic = monotonic;
    return last;
  };
  return {
    readClock,
    lastReading: () => {
      try {
        return readClock();
      } catch {
        return last;
      }
    },
  };
}

/** A clock that is set back again and again must not fill the memory. */
const MOST_SET_BACKS = 8;

function withSetBack(latest: SetBack, earlier: readonly SetBack[]): readonly SetBack[] {
  return [latest, ...earlier.filter(({ from }) => from > latest.to)].slice(0, MOST_SET_BACKS);
}

function wholeMilliseconds(time: unknown): number {
  const whole = typeof time === "number" ? Math.floor(time) : NaN;
  if (whole >= 0 && whole <= MAX_TIME) return whole;
  throw new TypeError(`The clock must return milliseconds, not ${inspect(time)}.`);
}
