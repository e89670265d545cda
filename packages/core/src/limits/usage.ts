import type { ClockReading, SetBack } from "../clock.js";
import { eachWindow, windows, type EachWindow, type WindowName } from "./windows.js";

/** One flat record, for one row. Times are milliseconds since the Unix epoch; all are non-negative safe integers. */
export interface Usage extends WindowsUsage {
  /** When the first refusal since the last admitted request or the last ban came; 0 if there was none. */
  readonly refusedSince: number;
  /** The refusals of that row that count towards a ban. */
  readonly refusals: number;
  /** The number of consecutive bans; 0 if none is remembered. */
  readonly bans: number;
  /** When the latest of these bans began. */
  readonly bannedAt: number;
  /** When a request was last admitted; 0 if none was. */
  readonly lastUsedAt: number;
}

/** For each window, when its first request opened it, and how many requests were admitted in it (0: never opened). */
type WindowsUsage = {
  readonly [Name in WindowName as `${Name}OpenedAt` | `${Name}Used`]: number;
};

/** Returns each window as it is now. Not by `eachWindow`: its callbacks cost each request 0.3 KB. */
export function currentWindows(usage: WindowsUsage, reading: ClockReading): EachWindow<Window> {
  const { minute, day } = windowsOf(usage);
  return {
    minute: currentWindow(minute, windows.minute.milliseconds, reading),
    day: currentWindow(day, windows.day.milliseconds, reading),
  };
}

export function windowsOf(usage: WindowsUsage): EachWindow<Window> {
  return {
    minute: { openedAt: usage.minuteOpenedAt, used: usage.minuteUsed },
    day: { openedAt: usage.dayOpenedAt, used: usage.dayUsed },
  };
}

/** As `refusedSince` and `lastUsedAt` keep a time: 0 means that there is none. */
export const usedAt = (now: number): number => Math.max(1, now);

/** Returns the usage with these windows after taking tokens. Field by field: in Node 20, a spread is a hundred times slower. */
export function withWindows(
  { refusedSince, refusals, bans, bannedAt, lastUsedAt }: Omit<Usage, keyof WindowsUsage>,
  { minute, day }: EachWindow<Window>,
  taken = 0,
): Usage {
  return {
    minuteOpenedAt: minute.openedAt,
    minuteUsed: minute.used + taken,
    dayOpenedAt: day.openedAt,
    dayUsed: day.used + taken,
    refusedSince,
    refusals,
    bans,
    bannedAt,
    lastUsedAt,
  };
}

export const NO_USAGE: Usage = Object.freeze(
  withWindows(
    { refusedSince: 0, refusals: 0, bans: 0, bannedAt: 0, lastUsedAt: 0 },
    eachWindow(() => ({ openedAt: 0, used: 0 })),
  ),
);

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
function currentWindow(stored: Window, length: number, reading: ClockReading): Window {
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
