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
