import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import type { CommitErrors } from "./commit.js";

/** The number of retries without a backoff: another connection's commit takes less time than a timer. */
const RETRIES_WITHOUT_BACKOFF = 20;
const LONGEST_BACKOFF = 20;

/** Milliseconds before a retry, counted from 1; 0 is one turn of the event loop. Event loops drift apart: no jitter. */
export function backoffBefore(retry: number): number {
  if (retry <= RETRIES_WITHOUT_BACKOFF) return 0;
  return Math.min(2 ** (retry - RETRIES_WITHOUT_BACKOFF - 1), LONGEST_BACKOFF);
}

export interface RetrySettings {
  /** In milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
}

/** Retries an action until the timeout while the database is busy, without blocking the event loop. */
export async function retryWhileBusy<T>(
  { timeout, now, isBusy }: RetrySettings & Pick<CommitErrors, "isBusy">,
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

/** Returns milliseconds of a clock that is never set, nor faked by a host's tests: for timeouts. */
export const monotonicNow = (): number => performance.now();
