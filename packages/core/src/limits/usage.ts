/**
 * The usage of a key, as stored: one flat record, so that a storage can keep it in one row. Times are
 * milliseconds since the Unix epoch; all numbers are non-negative safe integers.
 */
export interface Usage {
  /** When the first request opened the minute window. */
  readonly minuteOpenedAt: number;
  /** Requests admitted in the minute window; 0 if it was never opened. */
  readonly minuteUsed: number;
  /** When the first request opened the day window. */
  readonly dayOpenedAt: number;
  /** Requests admitted in the day window; 0 if it was never opened. */
  readonly dayUsed: number;
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

/** Returns a time as `refusedSince` and `lastUsedAt` keep it: 0 means that there is none. */
export const usedAt = (now: number): number => Math.max(1, now);

/** The usage of a key that has never been used. */
export const NO_USAGE: Usage = Object.freeze({
  minuteOpenedAt: 0,
  minuteUsed: 0,
  dayOpenedAt: 0,
  dayUsed: 0,
  refusedSince: 0,
  refusals: 0,
  bans: 0,
  bannedAt: 0,
  lastUsedAt: 0,
});
