import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createDigestIndex } from "../src/storage/memory/digest-index.js";
import { createSecretRows } from "../src/storage/memory/secret-rows.js";

it("the rows of secrets that were dropped are used again", () => {
  const rows = createSecretRows();
  const secret = (number: number) => ({
    digest: `digest ${String(number)}`,
    hint: "pet_live_abcd",
    expiresAt: undefined,
  });
  const kept = rows.add(0, [secret(0), secret(1)]);
  let newest = rows.add(1, [secret(2), secret(3)]);
  const used = new Set<number>([kept, newest]);
  for (let rotation = 0; rotation < 1_000; rotation += 1) {
    rows.remove(newest);
    newest = rows.add(1, [secret(4 + rotation), secret(5_000 + rotation)]);
    used.add(newest);
  }
  expect(used.size).toBeLessThanOrEqual(4);
  expect(rows.read(kept)).toEqual([secret(0), secret(1)]);
});

it("the secrets that were dropped leave nothing behind in the index", () => {
  const rows = createSecretRows();
  const secret = (number: number) => ({
    digest: `digest ${String(number)}`,
    hint: "pet_live_abcd",
    expiresAt: undefined,
  });
  let newest = rows.add(0, [secret(0)]);
  const before = process.memoryUsage().arrayBuffers;
  for (let rotation = 1; rotation < 200_000; rotation += 1) {
    rows.remove(newest);
    newest = rows.add(0, [secret(rotation)]);
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(262_144);
  expect(rows.find("digest 199999")).toBe(newest);
});

it("an index does not grow by what was removed from it", () => {
  const digests: string[] = [];
  const index = createDigestIndex((row) => digests[row] ?? "");
  const before = process.memoryUsage().arrayBuffers;
  for (let number = 0; number < 200_000; number += 1) {
    digests[0] = String(number);
    index.add(0, String(number));
    index.remove(String(number));
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(262_144);
});

it("an index of many is found in with few comparisons", () => {
  let read = 0;
  const digests = Array.from({ length: 100_000 }, (_, row) => `digest ${String(row)}`);
  const index = createDigestIndex((row) => {
    read += 1;
    return digests[row] ?? "";
  });
  digests.forEach((digest, row) => index.add(row, digest));
  read = 0;
  for (const digest of digests) index.find(digest);
  expect(read / digests.length).toBeLessThan(4);
});

it("an index does not grow by what is looked for in vain", () => {
  const index = createDigestIndex(() => "");
  const before = heapAfterCollection();
  for (let number = 0; number < 100_000; number += 1) index.find(`made up ${String(number)}`);
  expect(heapAfterCollection() - before).toBeLessThan(4 * 2 ** 20);
  // Until here it may not be collected.
  expect(index.find("made up")).toBeUndefined();
});

it("an index stays as it was when something is removed that is not there", () => {
  const digest = (row: number | string) => `${String(row)}, and the same end`;
  let read = 0;
  const index = createDigestIndex((row) => {
    read += 1;
    if (read > 100_000) throw new Error("The search has no end.");
    return digest(row);
  });
  for (let row = 0; row < 40; row += 1) {
    index.remove(digest("none"));
    index.add(row, digest(row));
  }
  expect(index.find(digest("none"))).toBeUndefined();
  for (let row = 0; row < 40; row += 1) expect(index.find(digest(row))).toBe(row);
});

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
