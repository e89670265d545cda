import { storageFailure, type StorageFailure } from "@petstore/core";
import { err, ResultAsync } from "neverthrow";
import { createBacklog } from "./backlog.js";
import { createCommitter, type Batch } from "./committer.js";
import type { Connection } from "./connection.js";
import { createJob, type Work } from "./job.js";
import type { Patience } from "./patience.js";

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
  const commitNext = createCommitter(connection, patience, openBatch, backlog);
  let scheduled = false;
  let closing: Promise<void> | undefined;
  let drained: (() => void) | undefined;

  const joinTurn = (): void => {
    if (scheduled) return;
    scheduled = true;
    // Between two immediates of a turn Node runs every promise reaction, and all that these call.
    setImmediate(flush);
    next?.joinTurn();
  };
  const flush = (): void => {
    scheduled = false;
    const pause = backlog.isEmpty() ? undefined : commitNext();
    if (pause !== undefined) {
      scheduled = true;
      runAfter(pause, flush);
    } else if (backlog.isEmpty()) drained?.();
    else joinTurn();
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
        joinTurn();
      })),
  };
}

/** Runs work after a pause in milliseconds; after none, in the next turn of the event loop. */
function runAfter(pause: number, work: () => void): void {
  if (pause === 0) setImmediate(work);
  else setTimeout(work, pause);
}
