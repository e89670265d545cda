import type { StorageFailure } from "@petstore/core";
import { err, type Result } from "neverthrow";
import { failureOf } from "./failure.js";

/** What a call does inside the transaction of a batch. When it fails it has done nothing. */
export type Work<Shared, Answer> = (batch: Shared) => Result<Answer, StorageFailure>;

/** One call's part of a batch. */
export interface Job<Shared> {
  /** How much it adds to the length of its batch. */
  readonly size: number;
  /** Does the work, and returns how to answer it once it is committed. Throws when the batch is lost. */
  run(batch: Shared): () => void;
  /** Answers that the batch was lost, and why. */
  fail(error: unknown): void;
}

/** A job of this work that gives its answer to `resolve`. `tried` names it in a failure. */
export function createJob<Shared, Answer>(
  tried: string,
  work: Work<Shared, Answer>,
  resolve: (answer: Result<Answer, StorageFailure>) => void,
  size: number,
): Job<Shared> {
  return {
    size,
    run: (batch) => {
      const answer = work(batch);
      return () => resolve(answer);
    },
    fail: (error) => resolve(err(failureOf(tried, error))),
  };
}
