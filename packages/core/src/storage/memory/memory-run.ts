import { err, ok, type Result } from "neverthrow";
import { storageFailure, type StorageFailure } from "../storage-failure.js";

/** Runs one piece of work at once and answers as a storage does: a throw is an `Err`. */
export type Run = <T>(work: () => T) => Promise<Result<T, StorageFailure>>;

/** Runs work for as long as `isOpen` says so. */
export function createRun(isOpen: () => boolean): Run {
  return (work) =>
    Promise.resolve(
      isOpen() ? attempt(work) : err(storageFailure("The memory storage is closed.")),
    );
}

function attempt<T>(work: () => T): Result<T, StorageFailure> {
  try {
    return ok(work());
  } catch (cause) {
    return err(storageFailure("The memory storage failed.", cause));
  }
}
