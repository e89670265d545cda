import { inspect } from "node:util";
import { fromThrowable } from "neverthrow";

export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /** Returns the milliseconds since any fixed moment, so that time counts although the clock was set back. */
  monotonic?(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** One reading of a clock. All times are whole milliseconds since the Unix epoch. */
export interface ClockReading {
  readonly now: number;
  /** The latest time this process has read; later than `now` only if the clock was set back. */
  readonly latest: number;
  /** How the clock was set back, the last time first; without those that it has caught up with since. */
  readonly setBacks: readonly SetBack[];
}

export interface SetBack {
  /** The time that the second reading would have been without it. */
  readonly from: number;
  /** The time of the second reading. */
  readonly to: number;
  /** How many milliseconds passed between the two, as far as the clock knows. */
  readonly unread: number;
}

export type ClockReader = ReturnType<typeof createClockReader>;

/** The latest time that a `Date` can represent. */
export const MAX_TIME = 8_640_000_000_000_000;

/** By how much the two times of a clock may drift apart without its having been set back, in milliseconds. */
const DRIFT = 1_000;

export function createClockReader(clock: Clock) {
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
  const tryToRead = fromThrowable(readClock);
  return {
    /** @throws TypeError when the clock does not return milliseconds (since 1970), or whatever the clock throws. */
    readClock,
    /** Reads the clock, too, but returns the last good reading when the clock fails. Never throws. */
    lastReading: (): ClockReading => tryToRead().unwrapOr(last),
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
