import { describe, expect, it } from "vitest";
import { batchesOf } from "../../src/pets/batches.js";
import type { Entry } from "../../src/pets/entry.js";

async function sizesOf(groups: readonly number[], size: number): Promise<readonly number[]> {
  let line = 0;
  const entriesOf = (count: number): readonly Entry[] =>
    Array.from({ length: count }, () => {
      line += 1;
      return { first: line, last: line, bytes: undefined };
    });
  async function* read(): AsyncGenerator<readonly Entry[], void> {
    for (const count of groups) yield await Promise.resolve(entriesOf(count));
  }
  const sizes: number[] = [];
  let next = 1;
  for await (const batch of batchesOf(read(), size)) {
    expect(batch[0]?.first).toBe(next);
    next = (batch.at(-1)?.last ?? 0) + 1;
    sizes.push(batch.length);
  }
  return sizes;
}

describe("batches", () => {
  it.each([
    [[], []],
    [[0], []],
    [[1, 1], [2]],
    [[7], [3, 3, 1]],
    [
      [2, 2, 2],
      [3, 3],
    ],
    [
      [1, 6, 0, 1],
      [3, 3, 2],
    ],
  ])("cut groups of %j into %j, in order", async (groups, sizes) => {
    expect(await sizesOf(groups, 3)).toEqual(sizes);
  });

  it("cut a group of any length", async () => {
    expect(await sizesOf([1, 400_000], 1_000)).toHaveLength(401);
  });
});
