import type { ClockReading, SetBack } from "../clock.js";

/** How far the clocks of processes on one storage may differ, in milliseconds. */
const CLOCK_SKEW = 10_000;

/** A token bucket's window. The first request opens it; when it ends, the bucket is full again. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  /** Tokens taken since it was opened. */
  readonly used: number;
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
 * Returns the start of a window or ban of this length. If it had ended when this process's clock was set back, it stays
 * ended, unless the same start may have been stored since. A start in the future of this clock is corrected by its cause:
 *
 * - This process has read that time: its clock was set back afterwards. The start moves to the earliest time at which
 *   that can have been, so that nothing lasts longer than its length after it.
 * - The start is at most 10 seconds ahead, and this process has not read that time, or everything that
 *   started before its clock was set back has ended: another process's clock is slightly ahead. The start
 *   stays, so that the two processes never grant the same tokens twice.
 * - The start is further ahead: the clock was set back while no process ran. The start moves to now.
 */
export function correctedStart(storedStart: number, length: number, reading: ClockReading): number {
  const { now, latest, setBacks } = reading;
  const [last] = setBacks;
  const isFuture = storedStart > now;
  const isNear = isFuture && storedStart - now <= CLOCK_SKEW;
  if (last === undefined || storedStart > latest) return isFuture && !isNear ? now : storedStart;
  if (hadEnded(storedStart, length, reading)) return last.to - length;
  if (!isFuture || (isNear && last.to + length <= now)) return storedStart;
  return earliest(last);
}

/** Whether this start is certainly from before the clock was set back, and its length had passed by then. */
function hadEnded(storedStart: number, length: number, { now, setBacks }: ClockReading): boolean {
  let before = Infinity;
  let beyond = now + CLOCK_SKEW;
  return setBacks.some((setBack) => {
    // What still runs may have been corrected to start at `earliest`.
    before = Math.min(before, setBack.unread < length ? earliest(setBack) : setBack.to);
    const isOlder = storedStart < before || storedStart > beyond;
    beyond = Math.max(beyond, setBack.from);
    return isOlder && storedStart + length <= setBack.from;
  });
}

/** Returns the earliest time at which the clock can have been set back. */
const earliest = ({ to, unread }: SetBack): number => Math.max(0, to - unread);
