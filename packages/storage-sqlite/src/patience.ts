/** How long to keep trying while another connection holds the database. All in milliseconds. */
export interface Patience {
  /** After how much waiting a call is given up. */
  readonly deadline: number;
  /** How long SQLite itself blocks the thread in each try. */
  readonly blocking: number;
}

/** How often to try again in the very next turn: the commit of another takes less than a timer can tell. */
const TRIES_WITHOUT_PAUSE = 20;
const LONGEST_PAUSE = 20;

/**
 * How long to pause after this many tries that met a busy database, in milliseconds; 0 is a turn of the
 * event loop. Without chance: the event loops of two processes drift by more than these pauses differ.
 */
export function pauseAfter(tries: number): number {
  if (tries <= TRIES_WITHOUT_PAUSE) return 0;
  return Math.min(2 ** (tries - TRIES_WITHOUT_PAUSE - 1), LONGEST_PAUSE);
}
