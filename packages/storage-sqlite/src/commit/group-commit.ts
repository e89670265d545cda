import { storageFailure, type StorageFailure } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { setTimeout } from "node:timers/promises";
import { pauseBefore } from "./while-busy.js";

/**
 * Calls that share transactions. To begin, commit and sync a transaction costs far more than the
 * statements of one call, so all calls that arrive in one turn of the event loop share one.
 */
export interface GroupCommit<Transaction> {
  /**
   * Runs `work` in the next transaction, after the work that was added before it, and resolves when
   * the transaction is committed. Work may run more than once; only its last run counts. When work
   * throws, its transaction is rolled back, only this call fails, and the others are run again.
   * @param name names the call in a failure message, as in "Adding a pet".
   */
  add<T>(name: string, work: Work<Transaction, T>): Promise<Result<T, StorageFailure>>;
  /** Commits, later in this turn of the event loop, the calls that wait by then, if any. */
  schedule(): void;
  /** Refuses further calls; resolves when the earlier ones are settled. */
  close(): Promise<void>;
}

/** What one call does inside a transaction. */
export type Work<Transaction, T> = (transaction: Transaction) => T;

/**
 * Runs the works in one transaction, commits it, and returns what each work returned: at once for a
 * database in this process, as a promise for one across a network. Throws, or rejects, when nothing
 * was stored.
 */
export type Commit<Transaction> = <T>(
  works: readonly Work<Transaction, T>[],
) => readonly T[] | Promise<readonly T[]>;

export interface GroupCommitOptions<Transaction> {
  readonly commit: Commit<Transaction>;
  readonly errors: CommitErrors;
  /** How long a call waits for a busy database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** The groups of the calls that follow from this group's results; they commit after it, in the same turn. */
  readonly followedBy?: readonly Pick<GroupCommit<unknown>, "schedule">[];
}

/** What an error of a commit means. */
export interface CommitErrors {
  /** Another connection holds the database: the same transaction may succeed later. */
  readonly isBusy: (error: unknown) => boolean;
  /** One of the calls caused it, not the database or the disk. */
  readonly isCausedByCall: (error: unknown) => boolean;
  /** The failure of a call with this name. */
  readonly toFailure: (name: string, error: unknown) => StorageFailure;
}

/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const LARGEST_BATCH = 1_000;

export function createGroupCommit<Transaction>({
  commit,
  errors,
  timeout,
  now,
  followedBy = [],
}: GroupCommitOptions<Transaction>): GroupCommit<Transaction> {
  const queue = createQueue<Transaction>();
  let retries = 0;
  let isScheduled = false;
  let isCommitting = false;
  let isClosed = false;
  let lastCall: Promise<unknown> = Promise.resolve();

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
  };

  const commitBatch = async (): Promise<void> => {
    const calls = queue.nextBatch();
    const committed = await settle(() => commit(calls.map(({ work }) => work)));
    if (committed.isErr() && errors.isBusy(committed.error)) return waitForOthers(committed.error);
    retries = 0;
    if (committed.isErr() && calls.length > 1 && errors.isCausedByCall(committed.error)) {
      queue.separate(calls.length);
      return;
    }
    queue.remove(calls.length);
    committed.match(
      (results) => results.forEach((succeed) => succeed()),
      (error) => calls.forEach((call) => call.fail(error)),
    );
  };

  const waitForOthers = async (error: unknown): Promise<void> => {
    for (const call of queue.removeExpired(now())) call.fail(error);
    retries = queue.isEmpty() ? 0 : retries + 1;
    const pause = pauseBefore(retries);
    if (pause > 0) await setTimeout(pause);
  };

  return {
    add: <T>(name: string, work: Work<Transaction, T>) => {
      const result = new Promise<Result<T, StorageFailure>>((resolve) => {
        if (isClosed) {
          resolve(err(storageFailure(`${name} failed: the storage is closed.`)));
          return;
        }
        const succeed = (value: T): void => resolve(ok(value));
        const fail = (error: unknown): void => resolve(err(errors.toFailure(name, error)));
        queue.add(createCall(work, succeed, fail, now() + timeout));
        schedule();
      });
      if (!isClosed) lastCall = result;
      return result;
    },
    schedule,
    close: async () => {
      isClosed = true;
      // Calls are settled in order of arrival.
      await lastCall;
    },
  };
}

/**
 * Between two immediates of a turn, Node runs every promise reaction. So when these groups commit,
 * the calls that follow from the results of the group before are in their queues. Committed a turn
 * later, calls that arrived together would spread over several transactions.
 */
function scheduleInSameTurn(groups: readonly Pick<GroupCommit<unknown>, "schedule">[]): void {
  for (const group of groups) group.schedule();
}

/** A call that waits for its transaction. */
interface Call<Transaction> {
  /** Runs the work, and returns how to settle the call once that is committed. */
  readonly work: Work<Transaction, () => void>;
  readonly fail: (error: unknown) => void;
  /** From when on the call fails if the database is busy. */
  readonly deadline: number;
}

function createCall<Transaction, T>(
  work: Work<Transaction, T>,
  succeed: (value: T) => void,
  fail: (error: unknown) => void,
  deadline: number,
): Call<Transaction> {
  return {
    work: (transaction) => {
      const value = work(transaction);
      return () => succeed(value);
    },
    fail,
    deadline,
  };
}

/** The calls in order of arrival, which is also that of their deadlines. */
function createQueue<Transaction>() {
  const calls: Call<Transaction>[] = [];
  /** How many of the first calls get a transaction each. */
  let separate = 0;

  const remove = (count: number): readonly Call<Transaction>[] => {
    separate = Math.max(0, separate - count);
    return calls.splice(0, count);
  };
  return {
    isEmpty: () => calls.length === 0,
    add: (call: Call<Transaction>): void => void calls.push(call),
    /** The calls of the next transaction; they stay. */
    nextBatch: () => calls.slice(0, separate > 0 ? 1 : LARGEST_BATCH),
    /** Gives each of the first calls a transaction of its own, because one of them made theirs fail. */
    separate: (count: number): void => {
      separate = count;
    },
    remove,
    removeExpired: (now: number) => {
      const inTime = calls.findIndex(({ deadline }) => deadline > now);
      return remove(inTime < 0 ? calls.length : inTime);
    },
  };
}

/** What an action returns or resolves to, or what it throws or rejects with. */
async function settle<T>(action: () => T | Promise<T>): Promise<Result<T, unknown>> {
  try {
    return ok(await action());
  } catch (error) {
    return err(error);
  }
}
