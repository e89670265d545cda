import type { StorageError } from "@petstore/core/storage";

export interface Call<Transaction, Subject, T> {
  /** The part of the call that runs inside a transaction. */
  readonly work: (transaction: Transaction) => T;
  readonly subject: Subject;
}

/** Runs all work in one transaction, commits it and returns the results. Throws or rejects when nothing was stored. */
export type Commit<Transaction, Subject = void> = <T>(
  calls: readonly Call<Transaction, Subject, T>[],
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
  constructor() {
    super("other processes kept changing the same row");
  }
}

/** Why a call fails that has not ended in time. One whose commit is under way may still be stored. */
export class TooLate extends Error {
  constructor(readonly mayBeStored: boolean) {
    const change = mayBeStored ? "; a change may have been stored" : "";
    super(`the database did not answer in time${change}`);
  }
}

export interface CommitErrors {
  /** Whether another connection has locked the database: a retry may succeed. */
  readonly isBusy: (error: unknown) => boolean;
  /** Whether one of the calls caused it, not the database or the disk. */
  readonly isCausedByCall: (error: unknown) => boolean;
  readonly toFailure: (name: string, error: unknown) => StorageError;
}
