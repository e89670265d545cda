/** When to replace a worker that ended by itself. */
export interface Restart {
  /** After so many milliseconds. */
  readonly after: number;
  /** Its place was left again and again: nothing is to be hoped for unless others serve. */
  readonly isHopeless: boolean;
  /** When the workers in its place ended within the last minute. */
  readonly deaths: readonly number[];
}

const MINUTE = 60_000;
const MOST_DEATHS_A_MINUTE = 5;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 10_000;

/**
 * Decides on a worker that ended at `now`, after those in the same place ended at `deaths`; all in
 * milliseconds. Each death within a minute doubles the pause, and from the sixth on it is hopeless.
 */
export function restart(deaths: readonly number[], now: number): Restart {
  const recent = [...deaths.filter((death) => now - death < MINUTE), now];
  return {
    after: Math.min(FIRST_PAUSE * 2 ** (recent.length - 1), LONGEST_PAUSE),
    isHopeless: recent.length > MOST_DEATHS_A_MINUTE,
    deaths: recent,
  };
}
