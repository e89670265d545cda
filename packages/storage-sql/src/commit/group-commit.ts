import { storageFailure, type StorageFailure } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { setTimeout } from "node:timers/promises";
import { backoffBefore } from "./retry.js";

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
  /** Commits the calls that are queued at the end of this turn of the event loop, if any. */
  schedule(): void;
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  close(): Promise<void>;
}

/** The part of a call that runs inside a transaction. */
export type Work<Transaction, T> = (transaction: Transaction) => T;

/** A call as its commit sees it. */
export interface Request<Transaction, Subject, T> {
  readonly work: Work<Transaction, T>;
  readonly subject: Subject;
}

/**
 * Runs each work in one transaction, commits it, and returns the results: synchronously for a database
 * in this process, as a promise for a database across a network. Throws or rejects when nothing was
 * stored.
 */
export type Commit<Transaction, Subject = void> = <T>(
  calls: readonly Request<Transaction, Subject, T>[],
) => readonly Outcome<T>[] | Promise<readonly Outcome<T>[]>;

/** The result of a call; or nothing was stored for it, and it fails alone or runs again. */
export type Outcome<T> = T | CallFailure | typeof AGAIN;

/** In place of a result: another process was faster, so the call runs again in the next transaction. */
export const AGAIN = Symbol("again");

/** In place of a result: the call fails, and the other calls of the transaction do not. */
export class CallFailure {
  constructor(readonly error: unknown) {}
}

/** Why a call fails that had to run again until its timeout. */
export class Contention extends Error {
  override readonly name = "Contention";
  constructor() {
    super("other processes kept changing the same row");
  }
}

/** Why a call fails whose commit has not ended: it may still be stored. */
export class TooLate extends Error {
  override readonly name = "TooLate";
  constructor() {
    super("the database did not answer in time, and it may have been stored");
  }
}

export interface GroupCommitOptions<Transaction, Subject> {
  readonly commit: Commit<Transaction, Subject>;
  readonly errors: CommitErrors;
  /** How long a call waits for a busy database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** When a call fails at the latest, in milliseconds, even if its commit is still under way; never by default. */
  readonly limit?: number;
  /** How many calls share a transaction at most; 1,000 by default. */
  readonly largestBatch?: number;
  /** Groups whose calls depend on this group's results. They commit after it, in the same turn. */
  readonly followedBy?: readonly Pick<GroupCommit<unknown>, "schedule">[];
}

/** Classifies the errors of a commit. */
export interface CommitErrors {
  /** Whether another connection has locked the database: a retry may succeed. */
  readonly isBusy: (error: unknown) => boolean;
  /** Whether one of the calls caused it, not the database or the disk. */
  readonly isCausedByCall: (error: unknown) => boolean;
  /** Returns the failure of the call with this name. */
  readonly toFailure: (name: string, error: unknown) => StorageFailure;
}

/** Limits how long one transaction blocks the event loop and other processes. */
const LARGEST_BATCH = 1_000;

/** How often calls under way are compared with their limit, in milliseconds. */
const LIMIT_PRECISION = 250;

export function createGroupCommit<Transaction, Subject = void>({
  commit,
  errors,
  timeout,
  now,
  limit,
  largestBatch = LARGEST_BATCH,
  followedBy = [],
}: GroupCommitOptions<Transaction, Subject>): GroupCommit<Transaction, Subject> {
  const queue = createQueue<Call<Transaction, Subject>>(largestBatch);
  let retries = 0;
  let isScheduled = false;
  let isCommitting = false;
  let isClosed = false;
  const whenIdle: (() => void)[] = [];

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(commitTurn);
    scheduleInSameTurn(followedBy);
  };

  const commitTurn = (): void => {
    isScheduled = false;
    if (!isCommitting && !queue.isEmpty()) void commitNext();
  };

  const commitNext = async (): Promise<void> => {
    isCommitting = true;
    await commitBatch();
    isCommitting = false;
    if (!queue.isEmpty()) schedule();
    else for (const resolve of whenIdle.splice(0)) resolve();
  };

  const commitBatch = async (): Promise<void> => {
    const calls = queue.nextBatch();
    const watch = limit === undefined ? undefined : setInterval(failLate, LIMIT_PRECISION, limit);
    const committed = await settle(() => commit(calls));
    clearInterval(watch);
    if (committed.isErr() && errors.isBusy(committed.error)) return waitForOthers(committed.error);
    if (committed.isErr() && calls.length > 1 && errors.isCausedByCall(committed.error)) {
      retries = 0;
      queue.separate(calls.length);
      return;
    }
    queue.remove(calls.length);
    if (committed.isErr()) calls.forEach((call) => call.fail(committed.error));
    else queue.putBack(calls.filter((call, index) => !settleCall(call, committed.value[index])));
    // If no call of this transaction is done, only time helps.
    if (queue.startsWith(calls)) return waitForOthers(new Contention());
    retries = 0;
  };

  /** Fails calls early. They stay queued, and what comes of them is ignored. */
  const failLate = (latest: number): void => {
    for (const call of queue.olderThan(now() - (latest - LIMIT_PRECISION - timeout))) {
      call.fail(new TooLate());
    }
  };

  const waitForOthers = async (error: unknown): Promise<void> => {
    for (const call of queue.removeExpired(now())) call.fail(error);
    retries = queue.isEmpty() ? 0 : retries + 1;
    const backoff = backoffBefore(retries);
    if (backoff > 0) await setTimeout(backoff);
  };

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

/**
 * Between two immediates of one turn, Node runs all promise reactions. When these groups commit, their
 * queues therefore hold the calls that follow from the first group's results. If they committed a turn
 * later, calls that arrived together would be spread over several transactions.
 */
function scheduleInSameTurn(groups: readonly Pick<GroupCommit<unknown>, "schedule">[]): void {
  for (const group of groups) group.schedule();
}

/** A call that waits for its transaction. Its work returns a function that resolves it, for after the commit. */
interface Call<Transaction, Subject> extends Request<Transaction, Subject, () => void> {
  readonly fail: (error: unknown) => void;
  /** The time after which the call fails if the database is busy. */
  readonly deadline: number;
}

function resolving<Transaction, T>(
  work: Work<Transaction, T>,
  succeed: (value: T) => void,
): Work<Transaction, () => void> {
  return (transaction) => {
    const value = work(transaction);
    return () => succeed(value);
  };
}

/** Returns whether the call is settled; if not, it runs again. */
function settleCall(
  call: { readonly fail: (error: unknown) => void },
  outcome: Outcome<() => void> | undefined,
): boolean {
  if (outcome === AGAIN || outcome === undefined) return false;
  if (outcome instanceof CallFailure) call.fail(outcome.error);
  else outcome();
  return true;
}

/** Queues calls in order of arrival, which is also the order of their deadlines. */
function createQueue<Call extends { readonly deadline: number }>(largestBatch: number) {
  const calls: Call[] = [];
  /** The number of calls at the front that each get a transaction of their own. */
  let separate = 0;

  const remove = (count: number): readonly Call[] => {
    separate = Math.max(0, separate - count);
    return calls.splice(0, count);
  };
  return {
    isEmpty: () => calls.length === 0,
    add: (call: Call): void => void calls.push(call),
    /** Returns the calls of the next transaction, without removing them. */
    nextBatch: () => calls.slice(0, separate > 0 ? 1 : largestBatch),
    /** Gives each of the first calls its own transaction, because one of them made their shared one fail. */
    separate: (count: number): void => {
      separate = count;
    },
    remove,
    /** Puts calls back to the front, in their order. */
    putBack: (again: readonly Call[]): void => void calls.unshift(...again),
    olderThan: (time: number) => calls.filter(({ deadline }) => deadline < time),
    startsWith: (batch: readonly Call[]) => batch.every((call, index) => calls[index] === call),
    removeExpired: (now: number) => {
      const inTime = calls.findIndex(({ deadline }) => deadline > now);
      return remove(inTime < 0 ? calls.length : inTime);
    },
  };
}

/** Resolves to what the action returns or resolves to, or to the error that it throws or rejects with. */
async function settle<T>(action: () => T | Promise<T>): Promise<Result<T, unknown>> {
  try {
    return ok(await action());
  } catch (error) {
    return err(error);
  }
}
