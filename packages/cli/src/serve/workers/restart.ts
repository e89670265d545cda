/** What to do after a worker ended by itself. */
export type Restart =
  /** Start another after so many milliseconds. */
  | { readonly kind: "restart"; readonly after: number; readonly deaths: readonly number[] }
  /** It ends again and again. */
  | { readonly kind: "give_up" };

const MINUTE = 60_000;
const MOST_DEATHS_A_MINUTE = 5;
const FIRST_PAUSE = 100;

/**
 * Decides on a worker that ended at `now`, after those at the same place ended at `deaths`; all in
 * milliseconds. Each death within a minute doubles the pause, and the sixth ends it.
 */
export function restart(deaths: readonly number[], now: number): Restart {
  const recent = [...deaths.filter((death) => now - death < MINUTE), now];
  if (recent.length > MOST_DEATHS_A_MINUTE) return { kind: "give_up" };
  return { kind: "restart", after: FIRST_PAUSE * 2 ** (recent.length - 1), deaths: recent };
}
