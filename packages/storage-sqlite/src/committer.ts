import { err, ok, type Result } from "neverthrow";
import type { Backlog } from "./backlog.js";
import type { Connection } from "./connection.js";
import { hasBlocked, isBusy, isOwnFault } from "./failure.js";
import type { Job } from "./job.js";
import { pauseAfter, type Patience } from "./patience.js";

/** What the calls of one transaction share. */
export interface Batch {
  /** Writes what the calls have left to be written; the last thing before the commit. */
  finish(): void;
}

/**
 * Commits the next batch of a backlog and answers its calls. Where the database is busy, they stay
 * there, but for those that have waited for too long; it returns how many milliseconds to pause
 * before it is called again, or `undefined` when none is left.
 */
export function createCommitter<Shared extends Batch>(
  connection: Connection,
  patience: Patience,
  openBatch: () => Shared,
  backlog: Backlog<Shared>,
): () => number | undefined {
  let tries = 0;

  const pauseFor = (error: unknown): number | undefined => {
    if (hasBlocked(error)) backlog.pass(patience.blocking);
    for (const job of backlog.takeExpired()) job.fail(error);
    if (backlog.isEmpty()) return undefined;
    tries += 1;
    const pause = pauseAfter(tries);
    backlog.pass(pause);
    return pause;
  };

  return () => {
    const jobs = backlog.next();
    const outcome = commit(connection, jobs, openBatch);
    if (outcome.isErr() && isBusy(outcome.error)) return pauseFor(outcome.error);
    tries = 0;
    if (outcome.isErr() && jobs.length > 1 && isOwnFault(outcome.error)) {
      backlog.suspect(jobs);
      return undefined;
    }
    backlog.drop(jobs);
    outcome.match(
      (answers) => answers.forEach((answer) => answer()),
      (error) => jobs.forEach((job) => job.fail(error)),
    );
    return undefined;
  };
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
