import { storageFailure, type StorageFailure } from "@petstore/core";
import { err, ok, ResultAsync, type Result } from "neverthrow";
import type { Connection } from "./connection.js";
import { hasBlocked, isBusy, isOwnFault } from "./failure.js";
import { createJob, type Job, type Work } from "./job.js";
import { pauseAfter, type Patience } from "./patience.js";
import { createWaitingLine } from "./waiting-line.js";

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

/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const LONGEST_BATCH = 1_000;

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
  const line = createWaitingLine<Job<Shared>>(patience.deadline);
  let scheduled = false;
  let tries = 0;
  /** How many of the next jobs get a transaction each. */
  let suspects = 0;
  let closing: Promise<void> | undefined;
  let drained: (() => void) | undefined;

  const goOn = (): void => {
    if (line.isEmpty()) drained?.();
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
    if (line.isEmpty()) {
      goOn();
      return;
    }
    const longest = suspects > 0 ? 1 : LONGEST_BATCH;
    const jobs = startOf(line.first(longest), longest);
    const outcome = commit(connection, jobs, openBatch);
    if (outcome.isErr() && isBusy(outcome.error)) {
      pause(outcome.error);
      return;
    }
    if (outcome.isErr() && jobs.length > 1 && isOwnFault(outcome.error)) {
      suspects = jobs.length;
      joinTurn();
      return;
    }
    tries = 0;
    suspects = Math.max(0, suspects - jobs.length);
    line.drop(jobs.length);
    outcome.match(
      (answers) => answers.forEach((answer) => answer()),
      (error) => jobs.forEach((job) => job.fail(error)),
    );
    goOn();
  };

  const pause = (error: unknown): void => {
    if (hasBlocked(error)) line.pass(patience.blocking);
    const expired = line.takeExpired();
    suspects = Math.max(0, suspects - expired.length);
    for (const job of expired) job.fail(error);
    if (line.isEmpty()) {
      goOn();
      return;
    }
    tries += 1;
    const length = pauseAfter(tries);
    scheduled = true;
    const again = (): void => {
      line.pass(length);
      flush();
    };
    if (length === 0) setImmediate(again);
    else setTimeout(again, length);
  };

  return {
    add: <Answer>(tried: string, work: Work<Shared, Answer>, size = 1) =>
      new ResultAsync<Answer, StorageFailure>(
        new Promise((resolve) => {
          if (closing !== undefined) {
            resolve(err(storageFailure(`${tried} failed: the storage is closed.`)));
            return;
          }
          line.add(createJob(tried, work, resolve, size));
          goOn();
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

/** The first jobs that make no longer a batch than this together; at least one. */
function startOf<Shared>(jobs: readonly Job<Shared>[], longest: number): readonly Job<Shared>[] {
  let length = 0;
  const tooMany = jobs.findIndex((job, index) => (length += job.size) > longest && index > 0);
  return tooMany < 0 ? jobs : jobs.slice(0, tooMany);
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
