// What the contract of all storages does not say of this one.
import { createMemoryStorage } from "@petstore/core";
import type { Storage, StoredApiKey } from "@petstore/core/storage";
import { expect, it } from "vitest";

const rex = { name: "Rex", categoryId: 7n, status: "available" } as const;

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
  const kept: boolean[] = [];
  for (const token of ["d", "c", "b"]) kept.push(await isReplayed(storage, token, 5));
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

const key: StoredApiKey = {
  ...{ id: "a", plan: "free", limits: { perMinute: 1, perDay: 1 }, label: undefined },
  ...{ createdAt: 0, expiresAt: undefined, revokedAt: undefined, secrets: [] },
};

it("says why a call fails", async () => {
  const storage = createMemoryStorage();
  (await storage.keys.insert(key))._unsafeUnwrap();
  expect(await storage.keys.insert(key)).toMatchObject({
    error: { message: "The memory storage failed.", cause: { message: "This id is taken." } },
  });
  const secrets = [{ digest: "taken", hint: "", expiresAt: undefined }];
  (await storage.keys.insert({ ...key, id: "b", secrets }))._unsafeUnwrap();
  expect(
    await storage.keys.update("a", () => ({ next: { ...key, secrets }, result: undefined })),
  ).toMatchObject({ error: { cause: { message: "This digest is taken." } } });
  await storage.close();
  const message = "The memory storage is closed.";
  expect(await storage.keys.insert(key)).toMatchObject({ error: { message } });
});
