import { clearInterval, setInterval } from "node:timers";
import { setTimeout } from "node:timers/promises";
import type { StorageError } from "@petstore/core/storage";
import { signalChannel, type TransactionSignal } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import { storageClosed } from "../lifecycle.js";
import { AGAIN, CallFailure, Contention, TooLate } from "./commit.js";
import type { Call, Commit, CommitErrors, Outcome } from "./commit.js";
import { backoffBefore, type RetrySettings } from "./retry.js";
import { createTurns, type Turns } from "./turns.js";

/** Commits the calls of one turn of the event loop together: a commit costs far more than the statements of a call. */
export interface GroupCommit<Transaction, Subject = void> {
  /**
   * Runs `work` in the next transaction, after all work that was added before it, and resolves when
   * the transaction is committed. Work may run more than once; only its last run counts. If it throws,
   * the transaction is rolled back, this call fails, and the other calls run again.
   * @param name names the call in a failure message, as in "Adding a pet".
   * @param subject what the commit has to know of the call before its work runs.
   */
  add<T>(
    name: string,
    work: (transaction: Transaction) => T,
    subject: Subject,
  ): Promise<Result<T, StorageError>>;
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  close(): Promise<void>;
  isClosed(): boolean;
}

/** `timeout`: for how long a call is tried again, from when it was added. */
export interface GroupCommitOptions<Transaction, Subject> extends RetrySettings {
  readonly commit: Commit<Transaction, Subject>;
  readonly errors: CommitErrors;
  readonly kind: Pick<TransactionSignal, "storage" | "group">;
  /** After how long a call fails even if its commit waits or is under way, in milliseconds; never by default. */
  readonly callTimeout?: number;
  /** How many calls share a transaction at most; 1,000 by default. */
  readonly largestBatch?: number;
  /** Commits this group after others, which commit in the same turns; in turns of its own by default. */
  readonly turns?: Turns;
}

/** Limits how long one transaction blocks the event loop and other processes. */
const LARGEST_BATCH = 1_000;

export function createGroupCommit<Transaction, Subject = void>(
  options: GroupCommitOptions<Transaction, Subject>,
): GroupCommit<Transaction, Subject> {
  const { now, callTimeout = Infinity, turns = createTurns() } = options;
  const queue = createQueue(options);
  const commitNext = createCommitNext(options, queue);
  const whenIdle: (() => void)[] = [];
  let isCommitting = false;
  let isClosed = false;

  const end = (): void => {
    queue.failExpired(now() - callTimeout, () => new TooLate(false));
    isCommitting = false;
    if (!queue.isEmpty()) turns.schedule();
    else for (const resolve of whenIdle.splice(0)) resolve();
  };
  turns.add({
    isWaiting: () => !isCommitting && !queue.isEmpty(),
    commit: () => {
      const batch = queue.nextBatch();
      isCommitting = true;
      void commitNext(batch).then(end);
      return batch.length;
    },
  });
  return {
    add: <T>(name: string, work: (transaction: Transaction) => T, subject: Subject) => {
      if (isClosed) return Promise.resolve<Result<T, StorageError>>(err(storageClosed(name)));
      return new Promise((settle: (result: Result<T, StorageError>) => void) => {
        queue.add({ name, work, subject, addedAt: now(), settle });
        turns.schedule();
      });
    },
    close: async () => {
      isClosed = true;
      // Calls under way stay in the queue.
      if (!queue.isEmpty()) await new Promise<void>((resolve) => void whenIdle.push(resolve));
    },
    isClosed: () => isClosed,
  };
}

/** How often calls under way are checked for their timeout, in milliseconds. They fail up to this much earlier. */
const PRECISION = 250;

/** Creates the function that commits a batch. It resolves when another may be committed. */
function createCommitNext<Transaction, Subject>(
  options: GroupCommitOptions<Transaction, Subject>,
  queue: Queue<Transaction, Subject>,
): (batch: readonly QueuedCall<Transaction, Subject>[]) => Promise<void> {
  const { commit, errors, kind, timeout, callTimeout = Infinity, now } = options;
  const publish = createTransactionSignal(options);
  let retries = 0;

  /** Fails the calls that have timed out, and waits before the others run again, longer each time. */
  const backOff = async (error: unknown): Promise<void> => {
    queue.failExpired(now() - Math.min(timeout, callTimeout), () => error);
    retries += 1;
    const backoff = backoffBefore(retries);
    if (backoff > 0) await setTimeout(backoff);
  };
  /** Fails calls that have timed out. Those under way stay queued, and what comes of them is ignored. */
  const failLate = (running: number): void => {
    const errorOf = (isRunning: boolean) => new TooLate(isRunning && kind.group !== "reads");
    queue.failExpired(now() - callTimeout + PRECISION, errorOf, running);
  };

  return async (batch) => {
    const begunAt = now();
    let outcomes: readonly Outcome<unknown>[];
    const watch =
      callTimeout === Infinity ? undefined : setInterval(failLate, PRECISION, batch.length);
    try {
      const committed = commit(batch);
      // Awaiting what is there already would cost the callers several rounds of promise reactions.
      outcomes = committed instanceof Promise ? await committed : committed;
      publish(batch, begunAt, false);
    } catch (error) {
      publish(batch, begunAt, true);
      if (errors.isBusy(error)) {
        await backOff(error);
        return;
      }
      if (batch.length > 1 && errors.isCausedByCall(error)) {
        queue.separate(batch.length);
        return;
      }
      outcomes = batch.map(() => new CallFailure(error));
    } finally {
      clearInterval(watch);
    }
    // If no call of this transaction is done, only time helps.
    if (queue.settle(outcomes) === 0) await backOff(new Contention());
    else retries = 0;
  };
}

/** Returns the function that publishes how a transaction has ended, if there is a subscriber. */
function createTransactionSignal<Transaction, Subject>({
  kind,
  now,
}: GroupCommitOptions<Transaction, Subject>) {
  const transactions = signalChannel("petstore:transaction");
  return (calls: readonly QueuedCall<Transaction, Subject>[], begunAt: number, failed: boolean) => {
    if (!transactions.hasSubscribers) return;
    transactions.publish({
      ...kind,
      calls: calls.length,
      waitMilliseconds: begunAt - (calls[0]?.addedAt ?? begunAt),
      commitMilliseconds: now() - begunAt,
      failed,
    });
  };
}

/** A call that waits for its transaction. */
interface QueuedCall<Transaction, Subject> extends Call<Transaction, Subject, unknown> {
  readonly name: string;
  /** When it was added, by the clock of its group. */
  readonly addedAt: number;
  /** To be called with what its own work has returned, or with a failure. */
  settle(result: Result<unknown, StorageError>): void;
}

type Queue<Transaction, Subject> = ReturnType<typeof createQueue<Transaction, Subject>>;

/** Creates a queue of unsettled calls, in the order of arrival. */
function createQueue<Transaction, Subject>(options: GroupCommitOptions<Transaction, Subject>) {
  const { errors, largestBatch = LARGEST_BATCH } = options;
  const calls: QueuedCall<Transaction, Subject>[] = [];
  /** The number of calls at the front that each get a transaction of their own. */
  let separate = 0;

  const fail = (call: QueuedCall<Transaction, Subject>, error: unknown): void =>
    call.settle(err(errors.toFailure(call.name, error)));
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
    settle: (outcomes: readonly Outcome<unknown>[]): number => {
      const again: QueuedCall<Transaction, Subject>[] = [];
      remove(0, outcomes.length).forEach((call, index) => {
        const outcome = outcomes[index];
        if (outcome === AGAIN) again.push(call);
        else if (outcome instanceof CallFailure) fail(call, outcome.error);
        else call.settle(ok(outcome));
      });
      calls.unshift(...again);
      return outcomes.length - again.length;
    },
    /** Fails the calls that were added until this time. Removes them, but for the first ones, if these are running. */
    failExpired: (time: number, errorOf: (isRunning: boolean) => unknown, running = 0): void => {
      const inTime = calls.findIndex(({ addedAt }) => addedAt > time);
      const expired = inTime < 0 ? calls.length : inTime;
      for (const call of calls.slice(0, Math.min(running, expired))) fail(call, errorOf(true));
      for (const call of remove(running, Math.max(0, expired - running)))
        fail(call, errorOf(false));
    },
  };
}
