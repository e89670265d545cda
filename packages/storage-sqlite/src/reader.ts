import type { StorageFailure } from "@petstore/core";
import { errAsync, ok, okAsync, type ResultAsync } from "neverthrow";
import { failureOf, isBusy } from "./failure.js";
import type { Batch, WriteQueue } from "./write-queue.js";

/** Runs a read and answers as a storage does. `tried` names it in a failure, as in "Listing pets". */
export type Read = <T>(tried: string, work: () => T) => ResultAsync<T, StorageFailure>;

/**
 * Reads at once: in WAL mode no writer keeps a reader out. In the rare moments when something does (a
 * recovery, an exclusive lock), the read waits its turn among the writes
 * of `queue`.
 */
export function createReader(isOpen: () => boolean, queue: WriteQueue<Batch>): Read {
  return (tried, work) => {
    if (!isOpen()) return queue.add(tried, () => ok(work()));
    try {
      return okAsync(work());
    } catch (error) {
      return isBusy(error) ? queue.add(tried, () => ok(work())) : errAsync(failureOf(tried, error));
    }
  };
}
