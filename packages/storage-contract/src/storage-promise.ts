import type { Storage } from "@petstore/core";
import type { StorageAbility } from "./storage-under-test.js";

/** One promise of the storage port, and how to find out whether a storage keeps it. */
export interface StoragePromise {
  /** What is promised, as a sentence. */
  readonly name: string;
  /** What the storage must be able to do for this promise to make sense. */
  readonly needs?: StorageAbility;
  /** Rejects with an `AssertionError` when the promise is broken. */
  check(open: OpenStorage): Promise<void>;
}

/**
 * Opens the storage: empty the first time, then, for a promise that `needs` it, again on the same
 * data. The suite closes what it opened.
 */
export type OpenStorage = () => Promise<Storage>;
