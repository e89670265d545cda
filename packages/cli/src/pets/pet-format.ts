import type { Pet } from "@petstore/core";
import type { Result } from "neverthrow";
import type { Entry } from "./entry.js";

/** A way to write pets into a file, one after the other. */
export interface PetFormat {
  /** What a file begins with, its line break included; empty when it begins with a pet. */
  readonly heading: string;
  /** A pet as a file has it, its line break included. */
  encode(pet: Pet): string;
  /** Puts the lines together that make one entry. */
  join(lines: AsyncIterable<readonly Entry[]>): AsyncIterable<readonly Entry[]>;
  /** Opens a file by its heading, if there is one. `Err` says what is wrong with that. */
  open(heading: Entry | undefined): Result<Decode, string>;
}

/** What stands at each of these entries, for the store to judge; `Err` says why it cannot be read. */
export type Decode = (entries: readonly Entry[]) => readonly Result<unknown, string>[];
