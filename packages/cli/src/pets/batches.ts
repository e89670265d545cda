import type { Entry } from "./entry.js";

/** Cuts the entries into batches of this size; the last may be shorter. */
export async function* batchesOf(
  groups: AsyncIterable<readonly Entry[]>,
  size: number,
): AsyncGenerator<readonly Entry[], void> {
  let waiting: Entry[] = [];
  for await (const entries of groups) {
    waiting.push(...entries);
    let start = 0;
    while (waiting.length - start >= size) {
      yield waiting.slice(start, start + size);
      start += size;
    }
    waiting = waiting.slice(start);
  }
  if (waiting.length > 0) yield waiting;
}
