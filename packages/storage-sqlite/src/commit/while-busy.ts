import { setTimeout } from "node:timers/promises";

/** The number of retries without a pause: another connection's commit takes less time than a timer. */
const RETRIES_WITHOUT_PAUSE = 20;
const LONGEST_PAUSE = 20;

/**
 * Returns the pause before a retry in milliseconds; retries count from 1, and 0 is one turn of the event
 * loop. There is no jitter, because the event loops of two processes drift apart by themselves.
 */
export function pauseBefore(retry: number): number {
  if (retry <= RETRIES_WITHOUT_PAUSE) return 0;
  return Math.min(2 ** (retry - RETRIES_WITHOUT_PAUSE - 1), LONGEST_PAUSE);
}

export interface WhileBusyOptions {
  /** How long to retry, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** Whether an error means that another connection has locked the database. */
  readonly isBusy: (error: unknown) => boolean;
}

/** Retries an action while another connection has locked the database, without blocking the event loop. */
export async function whileBusy<T>(
  { timeout, now, isBusy }: WhileBusyOptions,
  action: () => T,
): Promise<T> {
  const deadline = now() + timeout;
  for (let retry = 1; ; retry += 1) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || now() >= deadline) throw error;
    }
    await setTimeout(pauseBefore(retry));
  }
}
