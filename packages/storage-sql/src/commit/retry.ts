import { setTimeout } from "node:timers/promises";
import type { Queue } from "./queue.js";

/** The number of retries without a backoff: another connection's commit takes less time than a timer. */
const RETRIES_WITHOUT_BACKOFF = 20;
const LONGEST_BACKOFF = 20;

/**
 * Returns the backoff before a retry in milliseconds; retries count from 1, and 0 is one turn of the event
 * loop. There is no jitter, because the event loops of two processes drift apart by themselves.
 */
export function backoffBefore(retry: number): number {
  if (retry <= RETRIES_WITHOUT_BACKOFF) return 0;
  return Math.min(2 ** (retry - RETRIES_WITHOUT_BACKOFF - 1), LONGEST_BACKOFF);
}

/** Creates the backoff of a group. While other processes are in the way, it waits before each batch, longer each time. */
export function createBackoff<Transaction, Subject>(
  now: () => number,
  queue: Queue<Transaction, Subject>,
) {
  let retries = 0;
  return {
    /** Fails the calls whose deadline has come with this error, and waits before the others run again. */
    wait: async (error: unknown): Promise<void> => {
      queue.failExpired(now(), error);
      retries = queue.isEmpty() ? 0 : retries + 1;
      const backoff = backoffBefore(retries);
      if (backoff > 0) await setTimeout(backoff);
    },
    reset: (): void => {
      retries = 0;
    },
  };
}

/** Retries an action for up to `timeout` milliseconds while the database is busy, without blocking the event loop. */
export async function retryWhileBusy<T>(
  {
    timeout,
    now,
    isBusy,
  }: {
    readonly timeout: number;
    readonly now: () => number;
    readonly isBusy: (error: unknown) => boolean;
  },
  action: () => T | Promise<T>,
): Promise<T> {
  const deadline = now() + timeout;
  for (let retry = 1; ; retry += 1) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || now() >= deadline) throw error;
    }
    await setTimeout(backoffBefore(retry));
  }
}

/** Returns milliseconds of a clock that is never set: for timeouts. */
export function monotonicNow(): number {
  return performance.now();
}
