import type { Storage } from "@petstore/core";

/** A storage as the suite meets it. */
export interface StorageUnderTest {
  /** The name that the tests stand under. */
  readonly name: string;
  /** A new, empty place for one promise. */
  createPlace(): Promise<Place>;
  /** What this storage does not promise, each with the reason; these promises are skipped. */
  readonly withoutPromise?: Readonly<Partial<Record<StorageAbility, string>>>;
}

/**
 * What not every storage can do: `reopening`, to find again what was stored after it was closed;
 * `sharing`, to be open several times at once on the same data.
 */
export type StorageAbility = "reopening" | "sharing";

/** Where a storage keeps its data: a file, a schema, a memory. */
export interface Place {
  /** Opens the storage on this place. Each time, with the ability for it, on the same data. */
  open(): Promise<Storage>;
  /** Removes the place, after every storage opened on it was closed. */
  remove(): Promise<void>;
}
