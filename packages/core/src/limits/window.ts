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
  const openedAt = anchor(stored.openedAt, reading);
  if (stored.used === 0 || reading.now >= openedAt + length) {
    return { openedAt: reading.now, used: 0 };
  }
  return { openedAt, used: stored.used };
}

/**
 * Where a stored beginning lies by this clock. One in the future is due to a clock: if this process
 * has itself been there, its clock was set back, and what began then is taken to begin when that was
 * noticed, so that nothing lasts longer than its length from there; if it is only a little ahead,
 * another process's clock is, and its word holds, so that the two grant nothing twice; anything
 * further is a clock set back between two runs.
 */
export function anchor(beganAt: number, reading: Reading): number {
  if (beganAt <= reading.now) return beganAt;
  if (beganAt <= reading.furthest) return reading.landedAt;
  return beganAt - reading.now <= CLOCK_SKEW ? beganAt : reading.now;
}
