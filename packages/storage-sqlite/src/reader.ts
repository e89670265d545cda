import type { StorageFailure } from "@petstore/core";
import { err, ok, ResultAsync, type Result } from "neverthrow";
import type { Connection } from "./connection.js";
import { failureOf, isBusy } from "./failure.js";
import type { Batch } from "./committer.js";
import type { WriteQueue } from "./write-queue.js";

/** Runs a read and answers as a storage does. `tried` names it in a failure, as in "Listing pets". */
export type Read = <T>(tried: string, work: () => T) => ResultAsync<T, StorageFailure>;

/** One call's read, for when its turn comes. */
type Job = () => void;

/**
 * Reads at the end of the turn, all that arrived in it together: in one transaction, since taking and
 * leaving SQLite's lock costs half as much as finding a row. In WAL mode no writer keeps a reader
 * out; in the rare moments when something does (a recovery, an exclusive lock), a read waits its
 * turn among the writes of `queue`. Each read fails alone.
 */
export function createReader(
  connection: Connection,
  isOpen: () => boolean,
  queue: WriteQueue<Batch>,
): Read {
  const waiting: Job[] = [];

  const flush = (): void => runTogether(connection, waiting);
  const wait = (job: Job): void => {
    // What is called in a turn reaches this point in the same round of microtasks.
    if (waiting.length === 0) queueMicrotask(flush);
    waiting.push(job);
  };

  return <T>(tried: string, work: () => T) => {
    const again = (): ResultAsync<T, StorageFailure> => queue.add(tried, () => ok(work()));
    if (!isOpen()) return again();
    return new ResultAsync(
      new Promise<Result<T, StorageFailure>>((resolve) => {
        wait(() => resolve(attempt(tried, work, again)));
      }),
    );
  };
}

/** Empties the jobs. What keeps a transaction from beginning or ending leaves no read unanswered. */
function runTogether(connection: Connection, jobs: Job[]): void {
  const run = (): void => {
    for (const job of jobs.splice(0)) job();
  };
  if (jobs.length === 1) {
    run();
    return;
  }
  try {
    connection.read(run);
  } catch {
    run();
  }
}

function attempt<T>(
  tried: string,
  work: () => T,
  again: () => PromiseLike<Result<T, StorageFailure>>,
): Result<T, StorageFailure> | PromiseLike<Result<T, StorageFailure>> {
  try {
    return ok(work());
  } catch (error) {
    return isBusy(error) ? again() : err(failureOf(tried, error));
  }
}
