import type { ClockReading } from "../clock.js";

/** Lengths of the two windows, in milliseconds. */
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** How far, in milliseconds, the clocks of processes on one storage may differ. */
const CLOCK_SKEW = 10_000;

/** A token bucket's window: its first request opens it, and all tokens are back when it ends. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  /** Tokens taken since it was opened. */
  readonly used: number;
}

/** What a caller has left (specification, "Rate limit headers"). */
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
 * Corrects the stored start of a window or ban of this length, when it lies in the future of this clock:
 *
 * - This process has read that time itself: its clock was set back since, and the start moves to the
 *   time at which that was noticed. Nothing then lasts longer than its length.
 * - It is at most 10 seconds ahead, and this process has not read that time, or everything that started
 *   before the clock was set back has ended: another process's clock is a little ahead. The start stays,
 *   so that the two processes never grant the same tokens twice.
 * - It is further ahead: the clock was set back while no process ran. The start moves to now.
 */
export function correctedStart(storedStart: number, length: number, reading: ClockReading): number {
  const { now, latest, setBackTo } = reading;
  if (storedStart <= now) return storedStart;
  const isNear = storedStart - now <= CLOCK_SKEW;
  if (storedStart > latest) return isNear ? storedStart : now;
  return isNear && setBackTo + length <= now ? storedStart : setBackTo;
}

/** Returns what is left in a window of this length, in milliseconds, under this limit. */
export function quotaOf(window: Window, length: number, limit: number): Quota {
  return {
    limit,
    remaining: Math.max(0, limit - window.used),
    resetAt: window.openedAt + length,
  };
}

/** Returns the quota that binds: fewer requests left; if equal, the one that resets later. */
export function bindingQuota(minute: Quota, day: Quota): Quota {
  if (minute.remaining !== day.remaining) return minute.remaining < day.remaining ? minute : day;
  return minute.resetAt > day.resetAt ? minute : day;
}
