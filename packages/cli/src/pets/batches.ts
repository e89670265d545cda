import type { Entry } from "./entry.js";

/** Cuts the entries into batches of this size; the last may be shorter. */
export async function* batchesOf(
  groups: AsyncIterable<readonly Entry[]>,
  size: number,
): AsyncGenerator<readonly Entry[], void> {
  let waiting: Entry[] = [];
  for await (const entries of groups) {
    for (const entry of entries) {
      waiting.push(entry);
      if (waiting.length < size) continue;
      yield waiting;
      waiting = [];
    }
  }
  if (waiting.length > 0) yield waiting;
}
