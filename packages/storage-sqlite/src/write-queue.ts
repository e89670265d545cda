import { storageFailure, type StorageFailure } from "@petstore/core";
import { err, ok, ResultAsync, type Result } from "neverthrow";
import { createBacklog } from "./backlog.js";
import type { Connection } from "./connection.js";
import { hasBlocked, isBusy, isOwnFault } from "./failure.js";
import { createJob, type Job, type Work } from "./job.js";
import { pauseAfter, type Patience } from "./patience.js";

/** What the calls of one transaction share. */
export interface Batch {
  /** Writes what the calls have left to be written; the last thing before the commit. */
  finish(): void;
}

/**
 * Writes that arrive in one turn of the event loop share one transaction, so one sync of the disk.
 * Each call is answered after the commit. Work that answers `Err` fails alone. What throws undoes the
 * whole batch: where one of the calls is to blame, they are tried again one by one.
 */
export interface WriteQueue<Shared extends Batch> {
  /**
   * `tried` names the work in a failure, as in "Adding a pet". The work may be run repeatedly. `size`
   * tells for how many calls it counts in the length of a transaction.
   */
  add<Answer>(
    tried: string,
    work: Work<Shared, Answer>,
    size?: number,
  ): ResultAsync<Answer, StorageFailure>;
  /** Commits in this turn whatever is added until the work already scheduled for it is done. */
  joinTurn(): void;
  /** Refuses further work; resolves when everything added before is answered. */
  close(): Promise<void>;
}

/**
 * A queue of writes on one connection. `next` is the queue for what its answers lead to: it commits
 * right after, not a turn later, so that calls which arrive together also stay together.
 */
export function createWriteQueue<Shared extends Batch>(
  connection: Connection,
  patience: Patience,
  openBatch: () => Shared,
  next?: Pick<WriteQueue<Batch>, "joinTurn">,
): WriteQueue<Shared> {
  const backlog = createBacklog<Shared>(patience.deadline);
  let scheduled = false;
  let tries = 0;
  let closing: Promise<void> | undefined;
  let drained: (() => void) | undefined;

  const goOn = (): void => {
    if (backlog.isEmpty()) drained?.();
    else joinTurn();
  };
  const joinTurn = (): void => {
    if (scheduled) return;
    scheduled = true;
    // Between two immediates of a turn Node runs every promise reaction, and all that these call.
    setImmediate(flush);
    next?.joinTurn();
  };
  const flush = (): void => {
    scheduled = false;
    if (!backlog.isEmpty()) commitNext();
    goOn();
  };

  const commitNext = (): void => {
    const jobs = backlog.next();
    const outcome = commit(connection, jobs, openBatch);
    if (outcome.isErr() && isBusy(outcome.error)) {
      tryAgainLater(outcome.error);
    } else if (outcome.isErr() && jobs.length > 1 && isOwnFault(outcome.error)) {
      backlog.suspect(jobs);
    } else {
      tries = 0;
      backlog.drop(jobs);
      outcome.match(
        (answers) => answers.forEach((answer) => answer()),
        (error) => jobs.forEach((job) => job.fail(error)),
      );
    }
  };
  const tryAgainLater = (error: unknown): void => {
    if (hasBlocked(error)) backlog.pass(patience.blocking);
    for (const job of backlog.takeExpired()) job.fail(error);
    if (backlog.isEmpty()) return;
    tries += 1;
    scheduled = true;
    const pause = pauseAfter(tries);
    runAfter(pause, () => {
      backlog.pass(pause);
      flush();
    });
  };

  return {
    add: <Answer>(tried: string, work: Work<Shared, Answer>, size = 1) =>
      new ResultAsync<Answer, StorageFailure>(
        new Promise((resolve) => {
          if (closing !== undefined) {
            resolve(err(storageFailure(`${tried} failed: the storage is closed.`)));
            return;
          }
          backlog.add(createJob(tried, work, resolve, size));
          joinTurn();
        }),
      ),
    joinTurn,
    close: () =>
      (closing ??= new Promise((resolve) => {
        drained = resolve;
        goOn();
      })),
  };
}

/** Runs work after a pause in milliseconds; after none, in the next turn of the event loop. */
function runAfter(pause: number, work: () => void): void {
  if (pause === 0) setImmediate(work);
  else setTimeout(work, pause);
}

/** Runs the jobs in one transaction, and returns how to answer each; or why all of them are lost. */
function commit<Shared extends Batch>(
  connection: Connection,
  jobs: readonly Job<Shared>[],
  openBatch: () => Shared,
): Result<readonly (() => void)[], unknown> {
  try {
    return ok(
      connection.write(() => {
        const batch = openBatch();
        const answers = jobs.map((job) => job.run(batch));
        batch.finish();
        return answers;
      }),
    );
  } catch (error) {
    return err(error);
  }
}
