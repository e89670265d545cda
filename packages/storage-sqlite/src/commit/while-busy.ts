import { setTimeout } from "node:timers/promises";

/** How often to try again without a pause: the commit of another connection is shorter than a timer. */
const RETRIES_WITHOUT_PAUSE = 20;
const LONGEST_PAUSE = 20;

/**
 * How long to pause before a retry, counted from 1, in milliseconds; 0 is a turn of the event loop.
 * Without jitter: the event loops of two processes drift by more than these pauses differ.
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
  /** Whether an error means that another connection holds the database. */
  readonly isBusy: (error: unknown) => boolean;
}

/** Retries an action while another connection holds the database, without blocking the event loop. */
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
