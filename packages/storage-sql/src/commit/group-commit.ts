import type { StorageFailure } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { storageClosed, type Work } from "./commit.js";
import { createCommitNext, type CommitOptions } from "./commit-next.js";
import { createQueue, type QueuedCall } from "./queue.js";

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

/** How a group commits its calls, and when. */
export interface GroupCommitOptions<Transaction, Subject> extends CommitOptions<
  Transaction,
  Subject
> {
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

/** Creates a group without calls. */
export function createGroupCommit<Transaction, Subject = void>(
  options: GroupCommitOptions<Transaction, Subject>,
): GroupCommit<Transaction, Subject> {
  const { gatherTurns = 0, followedBy = [] } = options;
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
          resolve(err(storageClosed(name)));
          return;
        }
        queue.add(createCall(options, name, work, subject, resolve));
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

/** Creates a call that resolves to the result of its work, after the commit. */
function createCall<Transaction, Subject, T>(
  { errors, timeout, now }: CommitOptions<Transaction, Subject>,
  name: string,
  work: Work<Transaction, T>,
  subject: Subject,
  resolve: (result: Result<T, StorageFailure>) => void,
): QueuedCall<Transaction, Subject> {
  return {
    work: (transaction) => {
      const value = work(transaction);
      return () => resolve(ok(value));
    },
    subject,
    fail: (error) => resolve(err(errors.toFailure(name, error))),
    deadline: now() + timeout,
  };
}

/** Runs an action at the end of this turn of the event loop, or so many turns later. */
function afterTurns(turns: number, action: () => void): void {
  setImmediate(turns === 0 ? action : () => afterTurns(turns - 1, action));
}
