import { storageFailure, type StorageFailure } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { setTimeout } from "node:timers/promises";
import {
  AGAIN,
  CallFailure,
  Contention,
  TooLate,
  type Commit,
  type CommitErrors,
  type Outcome,
  type Request,
  type Work,
} from "./commit.js";
import { backoffBefore } from "./retry.js";
import { createTransactionSignal, type TransactionKind } from "./transaction-signal.js";

/**
 * Commits calls in shared transactions. Beginning, committing and syncing a transaction costs far more
 * than the statements of one call, so all calls that arrive in one turn of the event loop share one.
 */
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
    work: Work<Transaction, T>,
    subject: Subject,
  ): Promise<Result<T, StorageFailure>>;
  /** Commits the queued calls at the end of this turn of the event loop, or so many turns later; see `gatherTurns`. */
  schedule(turns?: number): void;
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  close(): Promise<void>;
}

/** How a group commits its calls, and for how long. */
export interface GroupCommitOptions<Transaction, Subject> {
  readonly commit: Commit<Transaction, Subject>;
  readonly errors: CommitErrors;
  readonly kind: TransactionKind;
  /** How long a call waits for a busy database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** When a call fails at the latest, in milliseconds, even if its commit is still under way; never by default. */
  readonly limit?: number;
  /** How many calls share a transaction at most; 1,000 by default. */
  readonly largestBatch?: number;
  /** How many turns of the event loop a transaction waits for calls if several shared the last one; 0 by default. */
  readonly gatherTurns?: number;
  /**
   * Groups whose calls depend on this group's results. They commit after it, in the same turn: between two immediates
   * of one turn, Node runs all promise reactions, so that their queues then hold the calls that follow. If they
   * committed a turn later, other calls of this group would come between.
   */
  readonly followedBy?: readonly Pick<GroupCommit<unknown>, "schedule">[];
}

/** Limits how long one transaction blocks the event loop and other processes. */
const LARGEST_BATCH = 1_000;

/** How often calls under way are compared with their limit, in milliseconds. */
const LIMIT_PRECISION = 250;

/** Creates a group without calls. */
export function createGroupCommit<Transaction, Subject = void>(
  options: GroupCommitOptions<Transaction, Subject>,
): GroupCommit<Transaction, Subject> {
  const { errors, timeout, now, gatherTurns = 0, followedBy = [] } = options;
  const queue = createQueue<Transaction, Subject>(options.largestBatch ?? LARGEST_BATCH);
  const commitNext = createCommitNext(options, queue);
  const whenIdle: (() => void)[] = [];
  let isScheduled = false;
  let isCommitting = false;
  let lastBatch = 0;
  let isClosed = false;

  const schedule = (turns = lastBatch > 1 ? gatherTurns : 0): void => {
    if (isScheduled) return;
    isScheduled = true;
    afterTurns(turns, run);
    for (const group of followedBy) group.schedule(turns);
  };

  function run(): void {
    isScheduled = false;
    if (isCommitting || queue.isEmpty()) return;
    isCommitting = true;
    void commitNext().then((batch) => {
      isCommitting = false;
      lastBatch = batch;
      if (!queue.isEmpty()) schedule();
      else for (const resolve of whenIdle.splice(0)) resolve();
    });
  }

  return {
    add: <T>(name: string, work: Work<Transaction, T>, subject: Subject) =>
      new Promise<Result<T, StorageFailure>>((resolve) => {
        if (isClosed) {
          resolve(err(storageFailure(`${name} failed: the storage is closed.`)));
          return;
        }
        const succeed = (value: T): void => resolve(ok(value));
        const fail = (error: unknown): void => resolve(err(errors.toFailure(name, error)));
        queue.add({ work: resolving(work, succeed), subject, fail, deadline: now() + timeout });
        schedule();
      }),
    schedule,
    close: () => {
      isClosed = true;
      if (queue.isEmpty() && !isCommitting) return Promise.resolve();
      return new Promise((resolve) => void whenIdle.push(resolve));
    },
  };
}

/** Returns work whose result resolves the call, after the commit. */
function resolving<Transaction, T>(
  work: Work<Transaction, T>,
  succeed: (value: T) => void,
): Work<Transaction, () => void> {
  return (transaction) => {
    const value = work(transaction);
    return () => succeed(value);
  };
}

/** Runs an action at the end of this turn of the event loop, or so many turns later. */
function afterTurns(turns: number, action: () => void): void {
  setImmediate(turns === 0 ? action : () => afterTurns(turns - 1, action));
}

/** Creates the function that commits the next batch. It resolves to its size when another may be committed. */
function createCommitNext<Transaction, Subject>(
  options: GroupCommitOptions<Transaction, Subject>,
  queue: Queue<Transaction, Subject>,
): () => Promise<number> {
  const { commit, errors, timeout, now, limit } = options;
  const beginSignal = createTransactionSignal(options);
  let retries = 0;

  const waitForOthers = async (error: unknown): Promise<void> => {
    queue.failExpired(now(), error);
    retries = queue.isEmpty() ? 0 : retries + 1;
    const backoff = backoffBefore(retries);
    if (backoff > 0) await setTimeout(backoff);
  };

  return async () => {
    const batch = queue.nextBatch();
    const publish = beginSignal(batch);
    let outcomes: readonly Outcome<() => void>[];
    const watch = limit === undefined ? undefined : setInterval(failLate, LIMIT_PRECISION, limit);
    try {
      const committed = commit(batch);
      // Awaiting what is there already would cost the callers several rounds of promise reactions.
      outcomes = committed instanceof Promise ? await committed : committed;
      publish?.(false);
    } catch (error) {
      publish?.(true);
      if (errors.isBusy(error)) {
        await waitForOthers(error);
        return batch.length;
      }
      retries = 0;
      if (batch.length > 1 && errors.isCausedByCall(error)) {
        queue.separate(batch.length);
        return batch.length;
      }
      outcomes = batch.map(() => new CallFailure(error));
    } finally {
      clearInterval(watch);
    }
    // If no call of this transaction is done, only time helps.
    if (queue.settle(outcomes) === 0) await waitForOthers(new Contention());
    else retries = 0;
    return batch.length;
  };

  /** Fails calls early. They stay queued, and what comes of them is ignored. */
  function failLate(latest: number): void {
    queue.failOlderThan(now() - (latest - LIMIT_PRECISION - timeout), new TooLate());
  }
}

/** A call that waits for its transaction. Its work returns a function that resolves it, for after the commit. */
interface Call<Transaction, Subject> extends Request<Transaction, Subject, () => void> {
  readonly fail: (error: unknown) => void;
  /** The time after which the call fails if the database is busy. */
  readonly deadline: number;
}

/** The calls that are not settled, in order of arrival, which is also the order of their deadlines. */
interface Queue<Transaction, Subject> {
  isEmpty(): boolean;
  add(call: Call<Transaction, Subject>): void;
  /** Returns the calls of the next transaction. They stay in the queue. */
  nextBatch(): readonly Call<Transaction, Subject>[];
  /** Gives each of the first calls a transaction of its own, because one of them made their shared one fail. */
  separate(count: number): void;
  /** Settles and removes the first calls, except those that run again. Returns how many are settled. */
  settle(outcomes: readonly Outcome<() => void>[]): number;
  /** Fails and removes the calls whose deadline has come. */
  failExpired(now: number, error: unknown): void;
  /** Fails the calls whose deadline was before this time. They stay in the queue, because they still run. */
  failOlderThan(time: number, error: unknown): void;
}

/** Creates an empty queue whose transactions take up to `largestBatch` calls. */
function createQueue<Transaction, Subject>(largestBatch: number): Queue<Transaction, Subject> {
  let calls: Call<Transaction, Subject>[] = [];
  /** The number of calls at the front that each get a transaction of their own. */
  let separate = 0;

  const removeFirst = (count: number): readonly Call<Transaction, Subject>[] => {
    separate = Math.max(0, separate - count);
    return calls.splice(0, count);
  };
  return {
    isEmpty: () => calls.length === 0,
    add: (call) => void calls.push(call),
    nextBatch: () => calls.slice(0, separate > 0 ? 1 : largestBatch),
    separate: (count) => {
      separate = count;
    },
    settle: (outcomes) => {
      const batch = removeFirst(outcomes.length);
      const again = batch.filter((call, index) => !settleCall(call, outcomes[index]));
      if (again.length > 0) calls = [...again, ...calls];
      return batch.length - again.length;
    },
    failExpired: (now, error) => {
      const inTime = calls.findIndex(({ deadline }) => deadline > now);
      for (const call of removeFirst(inTime < 0 ? calls.length : inTime)) call.fail(error);
    },
    failOlderThan: (time, error) => {
      for (const { deadline, fail } of calls) if (deadline < time) fail(error);
    },
  };
}

/** Returns whether the call is settled; if not, it runs again. */
function settleCall(
  { fail }: { readonly fail: (error: unknown) => void },
  outcome: Outcome<() => void> | undefined,
): boolean {
  if (outcome === AGAIN || outcome === undefined) return false;
  if (outcome instanceof CallFailure) fail(outcome.error);
  else outcome();
  return true;
}
