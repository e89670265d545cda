import { signalChannel, type TransactionSignal } from "@petstore/core";
import { setTimeout } from "node:timers/promises";
import {
  CallFailure,
  Contention,
  TooLate,
  type Commit,
  type CommitErrors,
  type Outcome,
} from "./commit.js";
import type { Queue } from "./queue.js";
import { backoffBefore } from "./retry.js";

/** How a group commits its calls, and how long they may take. */
export interface CommitOptions<Transaction, Subject> {
  readonly commit: Commit<Transaction, Subject>;
  readonly errors: CommitErrors;
  readonly kind: TransactionKind;
  /** How long a call waits for a busy database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** When a call fails at the latest, in milliseconds, even if its commit is still under way; never by default. */
  readonly limit?: number;
}

/** What the signals of a group's transactions have in common. */
export type TransactionKind = Pick<TransactionSignal, "storage" | "group">;

/** Creates the function that commits the next batch. It resolves to its size when another may be committed. */
export function createCommitNext<Transaction, Subject>(
  options: CommitOptions<Transaction, Subject>,
  queue: Queue<Transaction, Subject>,
): () => Promise<number> {
  const { commit, errors } = options;
  const beginSignal = createTransactionSignal(options);
  const limit = createLimit(options, queue);
  const backoff = createBackoff(options, queue);

  return async () => {
    const batch = queue.nextBatch();
    const publish = beginSignal(batch);
    let outcomes: readonly Outcome<() => void>[];
    const watch = limit.watch();
    try {
      const committed = commit(batch);
      // Awaiting what is there already would cost the callers several rounds of promise reactions.
      outcomes = committed instanceof Promise ? await committed : committed;
      publish?.(false);
    } catch (error) {
      publish?.(true);
      if (errors.isBusy(error)) {
        await backoff.wait(error);
        return batch.length;
      }
      backoff.reset();
      if (batch.length > 1 && errors.isCausedByCall(error)) {
        queue.separate(batch.length);
        return batch.length;
      }
      outcomes = batch.map(() => new CallFailure(error));
    } finally {
      clearInterval(watch);
    }
    // If no call of this transaction is done, only time helps.
    if (queue.settle(outcomes) === 0) await backoff.wait(new Contention());
    else backoff.reset();
    return batch.length;
  };
}

/** Waits before the next batch, longer each time, as long as other processes are in the way. */
function createBackoff<Transaction, Subject>(
  { now }: CommitOptions<Transaction, Subject>,
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

/** How often calls under way are compared with their limit, in milliseconds. */
const LIMIT_PRECISION = 250;

/** Fails calls that have reached the limit. They stay queued, and what comes of them is ignored. */
function createLimit<Transaction, Subject>(
  { limit, timeout, now }: CommitOptions<Transaction, Subject>,
  queue: Queue<Transaction, Subject>,
) {
  const failLate = (latest: number): void =>
    queue.failOlderThan(now() - (latest - LIMIT_PRECISION - timeout), new TooLate());
  return {
    /** Returns the timer, to be cleared when the commit has ended; `undefined` without a limit. */
    watch: (): NodeJS.Timeout | undefined =>
      limit === undefined ? undefined : setInterval(failLate, LIMIT_PRECISION, limit),
  };
}

/**
 * Creates the function that is called when a transaction begins, with its calls, the oldest first. It returns the
 * function that publishes the transaction when it has ended; `undefined` without a subscriber.
 */
function createTransactionSignal<Transaction, Subject>({
  kind,
  timeout,
  now,
}: CommitOptions<Transaction, Subject>): (
  calls: readonly { readonly deadline: number }[],
) => ((failed: boolean) => void) | undefined {
  const transactions = signalChannel("petstore:transaction");
  return (calls) => {
    if (!transactions.hasSubscribers) return undefined;
    const begunAt = now();
    const arrivedAt = (calls[0]?.deadline ?? begunAt + timeout) - timeout;
    return (failed) =>
      transactions.publish({
        // A spread before fractions takes V8 microseconds.
        storage: kind.storage,
        group: kind.group,
        calls: calls.length,
        waitMilliseconds: begunAt - arrivedAt,
        commitMilliseconds: now() - begunAt,
        failed,
      });
  };
}
