import type { Result } from "neverthrow";
import type { KeyStorage } from "./key-storage.js";
import type { PetStorage } from "./pet-storage.js";
import type { StorageFailure } from "./storage-failure.js";
import type { UsageStorage } from "./usage-storage.js";

/**
 * Where a store keeps everything. Several processes may share what is behind it; every member is
 * atomic among all of them. A member that fails has changed nothing. Members never throw and never
 * reject: failure is the `Err` value.
 */
export interface Storage {
  readonly pets: PetStorage;
  readonly keys: KeyStorage;
  readonly usage: UsageStorage;
  /** Completes what is under way and releases everything held. Calls after it fail; twice is fine. */
  close(): Promise<Result<void, StorageFailure>>;
}
