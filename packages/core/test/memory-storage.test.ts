import { createMemoryStorage } from "@petstore/core";
import type { Storage } from "@petstore/core/storage";
import { expect, it } from "vitest";
import { rex } from "../../storage-sql/test/support/samples.js";

/** Creates a pet once, at this time. Resolves to whether that was done before. */
async function isReplayed({ pets }: Storage, token: string, now: number): Promise<boolean> {
  const request = { token, fingerprint: "", now, expiresAt: now + 10 };
  return (await pets.createOnce(rex, request))._unsafeUnwrap().replayed;
}

it("forgets two expired creations with each new one, the oldest first", async () => {
  const storage = createMemoryStorage();
  for (const token of ["a", "b", "c", "d"]) expect(await isReplayed(storage, token, 0)).toBe(false);
  expect(await isReplayed(storage, "e", 10)).toBe(false);
  // As if the clock were set back: nothing else shows what is kept.
  const kept = await Promise.all(["d", "c", "b"].map((token) => isReplayed(storage, token, 5)));
  expect(kept).toEqual([true, true, false]);
});

it("forgets expired creations although one was made a year ahead of them", async () => {
  const storage = createMemoryStorage();
  await isReplayed(storage, "ahead", 1e9);
  for (let now = 0; now < 100; now += 1) await isReplayed(storage, `${now}`, now);
  let remembered = 0;
  for (let now = 0; now < 100; now += 1)
    if (await isReplayed(storage, `${now}`, now)) remembered += 1;
  expect(remembered).toBeLessThan(50);
});
