import type { Clock } from "../clock.js";

/** One reading of the clock, as a limit needs it. All in whole milliseconds since the Unix epoch. */
export interface Reading {
  readonly now: number;
  /** The latest time this process has ever read. It is later than `now` only after a step back. */
  readonly furthest: number;
  /** What was read first after the latest step back; 0 when there was none. Never later than `now`. */
  readonly landedAt: number;
}

/** Reads a clock and remembers how far it has been, so that a step back is recognised. */
export type Timekeeper = () => Reading;

/**
 * A timekeeper over this clock. A clock that throws, or answers no time from 1970 on, is taken to stand
 * still: a broken host clock must not take a request down.
 */
export function createTimekeeper(clock: Clock): Timekeeper {
  let last = 0;
  let furthest = 0;
  let landedAt = 0;
  return () => {
    const now = wholeMilliseconds(clock) ?? last;
    if (now < last) landedAt = now;
    last = now;
    furthest = Math.max(furthest, now);
    return { now, furthest, landedAt };
  };
}

function wholeMilliseconds(clock: Clock): number | undefined {
  try {
    const now = Math.floor(clock.now());
    return Number.isSafeInteger(now) && now >= 0 ? now : undefined;
  } catch {
    return undefined;
  }
}
