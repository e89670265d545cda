import type { Reading } from "./reading.js";

/** Lengths of the two windows, in milliseconds. */
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** How far the clocks of processes on one storage may differ without granting anything twice. */
const CLOCK_SKEW = 10_000;

/** A token bucket's window: opened by its first request, refilled whole when it ends. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  /** Tokens taken since it was opened. */
  readonly used: number;
}

/** The window that holds at this reading: the stored one, or an empty one from now on. */
export function currentWindow(stored: Window, length: number, reading: Reading): Window {
  const openedAt = anchor(stored.openedAt, length, reading);
  if (stored.used === 0 || reading.now >= openedAt + length) {
    return { openedAt: reading.now, used: 0 };
  }
  return { openedAt, used: stored.used };
}

/**
 * Where the stored beginning of what lasts this long lies by this clock. One in the future is due to a
 * clock: if this process has itself been there, its clock was set back, and what began then is taken to
 * begin when that was noticed, so that nothing lasts longer than its length from there. One that is only
 * a little ahead although this process has never been there, or although all that began then has ended
 * since, is due to another process's clock, and its word holds, so that the two grant nothing twice.
 * Anything further is a clock set back between two runs.
 */
export function anchor(beganAt: number, length: number, reading: Reading): number {
  const { now, furthest, landedAt } = reading;
  if (beganAt <= now) return beganAt;
  const isNear = beganAt - now <= CLOCK_SKEW;
  if (beganAt > furthest) return isNear ? beganAt : now;
  return isNear && landedAt + length <= now ? beganAt : landedAt;
}
