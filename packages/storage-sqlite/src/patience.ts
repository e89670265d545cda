/** How long to keep trying while another connection holds the database. All in milliseconds. */
export interface Patience {
  /** After how much waiting a call is given up. */
  readonly deadline: number;
  /** How long SQLite itself blocks the thread in each try. */
  readonly blocking: number;
}

const LONGEST_PAUSE = 20;

/**
 * How long to pause after this many tries that met a busy database, in milliseconds. Without chance: the
 * event loops of two processes drift by more than these pauses differ.
 */
export function pauseAfter(tries: number): number {
  return Math.min(2 ** (tries - 1), LONGEST_PAUSE);
}
