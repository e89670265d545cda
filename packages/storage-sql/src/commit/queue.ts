import { AGAIN, CallFailure, type Call, type Outcome } from "./commit.js";

/** A call that waits for its transaction. Its work returns a function that resolves it, for after the commit. */
export interface QueuedCall<Transaction, Subject> extends Call<Transaction, Subject, () => void> {
  readonly fail: (error: unknown) => void;
  /** When it was added, by the clock of its group. */
  readonly addedAt: number;
}

export type Queue<Transaction, Subject> = ReturnType<typeof createQueue<Transaction, Subject>>;

/** Creates a queue of unsettled calls, in the order of arrival, for batches up to this size. */
export function createQueue<Transaction, Subject>(largestBatch: number) {
  const calls: QueuedCall<Transaction, Subject>[] = [];
  /** The number of calls at the front that each get a transaction of their own. */
  let separate = 0;

  const remove = (first: number, count: number): readonly QueuedCall<Transaction, Subject>[] => {
    separate = Math.max(0, separate - count);
    return calls.splice(first, count);
  };
  return {
    isEmpty: () => calls.length === 0,
    add: (call: QueuedCall<Transaction, Subject>) => void calls.push(call),
    /** Returns the calls of the next transaction. They stay in the queue. */
    nextBatch: () => calls.slice(0, separate > 0 ? 1 : largestBatch),
    /** Gives each of the first calls a transaction of its own, because one of them made their shared one fail. */
    separate: (count: number): void => {
      separate = count;
    },
    /** Settles and removes the first calls, except those that run again. Returns how many are settled. */
    settle: (outcomes: readonly Outcome<() => void>[]): number => {
      const batch = remove(0, outcomes.length);
      const again = batch.filter((call, index) => !settleCall(call, outcomes[index]));
      calls.unshift(...again);
      return batch.length - again.length;
    },
    /** Fails the calls that were added until this time. Removes them, but for the first ones, if these are running. */
    failExpired: (time: number, errorOf: (isRunning: boolean) => unknown, running = 0): void => {
      const inTime = calls.findIndex(({ addedAt }) => addedAt > time);
      const expired = inTime < 0 ? calls.length : inTime;
      for (const call of calls.slice(0, Math.min(running, expired))) call.fail(errorOf(true));
      for (const call of remove(running, Math.max(0, expired - running))) call.fail(errorOf(false));
    },
  };
}

/** Returns whether the call is settled; if not, it runs again. */
function settleCall(
  { fail }: Pick<QueuedCall<never, never>, "fail">,
  outcome: Outcome<() => void> | undefined,
): boolean {
  if (outcome === AGAIN || outcome === undefined) return false;
  if (outcome instanceof CallFailure) fail(outcome.error);
  else outcome();
  return true;
}
