import { createMemoryStorage } from "@petstore/core";
import { INT64_MAX, type Storage } from "@petstore/core/storage";
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
  const times = [...Array(100).keys()];
  const addAll = () => Promise.all(times.map((now) => isReplayed(storage, `${now}`, now)));
  await addAll();
  expect((await addAll()).filter(Boolean).length).toBeLessThan(50);
});

it("gives out the largest id, and then none", async () => {
  const { pets } = createMemoryStorage();
  (await pets.import([{ ...rex, id: INT64_MAX - 1n }]))._unsafeUnwrap();
  expect((await pets.create(rex))._unsafeUnwrap().id).toBe(INT64_MAX);
  expect((await pets.create(rex)).isErr()).toBe(true);
});
