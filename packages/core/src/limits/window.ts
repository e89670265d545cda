import type { ClockReading } from "../clock.js";

/** Lengths of the two windows, in milliseconds. */
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** How far the clocks of processes on one storage may differ, in milliseconds. */
const CLOCK_SKEW = 10_000;

/** A token bucket's window. The first request opens it; when it ends, the bucket is full again. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  /** Tokens taken since it was opened. */
  readonly used: number;
}

/** The requests that a caller has left (specification, "Rate limit headers"). */
export interface Quota {
  /** The limit that binds: requests per minute or per day, whichever window has fewer left. */
  readonly limit: number;
  /** Requests left in the window of that limit. */
  readonly remaining: number;
  /** When that window ends, in milliseconds since the Unix epoch. */
  readonly resetAt: number;
}

/** Returns the stored window while it lasts, otherwise an empty one that opens now. */
export function currentWindow(stored: Window, length: number, reading: ClockReading): Window {
  const openedAt = correctedStart(stored.openedAt, length, reading);
  if (stored.used === 0 || reading.now >= openedAt + length) {
    return { openedAt: reading.now, used: 0 };
  }
  return { openedAt, used: stored.used };
}

/**
 * Returns the start of a window or ban of this length. A stored start in the future of this clock is
 * corrected by its cause:
 *
 * - This process has read that time: its clock was set back afterwards. The start moves to the first time
 *   that was read after that, so that nothing lasts longer than its length.
 * - The start is at most 10 seconds ahead, and this process has not read that time, or everything that
 *   started before its clock was set back has ended: another process's clock is slightly ahead. The start
 *   stays, so that the two processes never grant the same tokens twice.
 * - The start is further ahead: the clock was set back while no process ran. The start moves to now.
 */
export function correctedStart(storedStart: number, length: number, reading: ClockReading): number {
  const { now, latest, setBackTo } = reading;
  if (storedStart <= now) return storedStart;
  const isNear = storedStart - now <= CLOCK_SKEW;
  if (storedStart > latest) return isNear ? storedStart : now;
  return isNear && setBackTo + length <= now ? storedStart : setBackTo;
}

/** Returns the quota of a window of this length, in milliseconds, under this limit. */
export function quotaOf(window: Window, length: number, limit: number): Quota {
  return {
    limit,
    remaining: Math.max(0, limit - window.used),
    resetAt: window.openedAt + length,
  };
}

/** Returns the quota that binds: the one with fewer requests left; if equal, the one that resets later. */
export function bindingQuota(minute: Quota, day: Quota): Quota {
  if (minute.remaining !== day.remaining) return minute.remaining < day.remaining ? minute : day;
  return minute.resetAt > day.resetAt ? minute : day;
}
