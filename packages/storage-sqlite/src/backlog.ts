import type { Job } from "./job.js";
import { createWaitingLine } from "./waiting-line.js";

/** The calls that wait for a transaction, in order of arrival, and which of them make the next one. */
export interface Backlog<Shared> {
  isEmpty(): boolean;
  add(job: Job<Shared>): void;
  /** The jobs of the next transaction, at least one; they stay. */
  next(): readonly Job<Shared>[];
  /** Removes the jobs that `next` gave: they are answered. */
  drop(jobs: readonly Job<Shared>[]): void;
  /** One of the jobs that `next` gave is to blame for a failure: each gets a transaction of its own. */
  suspect(jobs: readonly Job<Shared>[]): void;
  /** Lets this many milliseconds of waiting pass for all of them. */
  pass(milliseconds: number): void;
  /** Removes and returns those that have waited for as long as they may. */
  takeExpired(): readonly Job<Shared>[];
}

/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const LONGEST_BATCH = 1_000;

/** Nothing waits yet; a call may wait `deadline` milliseconds, as counted by `pass`. */
export function createBacklog<Shared>(deadline: number): Backlog<Shared> {
  const line = createWaitingLine<Job<Shared>>(deadline);
  /** How many of the first jobs get a transaction each. */
  let suspects = 0;
  const forget = (jobs: readonly Job<Shared>[]): void => {
    suspects = Math.max(0, suspects - jobs.length);
  };

  return {
    isEmpty: () => line.isEmpty(),
    add: (job) => line.add(job),
    next: () => (suspects > 0 ? line.first(1) : startOf(line.first(LONGEST_BATCH))),
    drop: (jobs) => {
      line.drop(jobs.length);
      forget(jobs);
    },
    suspect: (jobs) => {
      suspects = jobs.length;
    },
    pass: (milliseconds) => line.pass(milliseconds),
    takeExpired: () => {
      const expired = line.takeExpired();
      forget(expired);
      return expired;
    },
  };
}

/** The first jobs that make no longer a batch than the longest together; at least one. */
function startOf<Shared>(jobs: readonly Job<Shared>[]): readonly Job<Shared>[] {
  let length = 0;
  const tooMany = jobs.findIndex((job, index) => (length += job.size) > LONGEST_BATCH && index > 0);
  return tooMany < 0 ? jobs : jobs.slice(0, tooMany);
}
