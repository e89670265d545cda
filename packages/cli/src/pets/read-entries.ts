import { isBlank, type Entry } from "./entry.js";
import type { PetFormat } from "./pet-format.js";
import { readLines } from "./read-lines.js";

/** The entries of a file. */
export interface Entries {
  /** What the file begins with, if the format has a heading; known once anything was read. */
  heading(): Entry | undefined;
  /** The others but for blank ones, those that are read together together. */
  readonly groups: AsyncIterable<readonly Entry[]>;
}

/** Reads a file's bytes in a format. */
export function readEntries(chunks: AsyncIterable<Buffer>, format: PetFormat): Entries {
  let heading: Entry | undefined;
  const withoutHeading = (entries: readonly Entry[]): readonly Entry[] => {
    if (format.heading === "" || heading !== undefined) return entries;
    heading = entries[0];
    return entries.slice(1);
  };
  async function* read(): AsyncGenerator<readonly Entry[], void> {
    for await (const entries of format.join(readLines(chunks))) {
      yield withoutHeading(entries.filter((entry) => !isBlank(entry)));
    }
  }
  return { heading: () => heading, groups: read() };
}
