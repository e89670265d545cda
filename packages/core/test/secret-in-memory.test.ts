import { getHeapSnapshot } from "node:v8";
import { createPetStore, type PetStore } from "@petstore/core";
import { expect, it } from "vitest";

/** Issues a key, uses it and forgets its secret. */
async function issueAndForget(store: PetStore): Promise<void> {
  const { secret } = (await store.keys.issue({ plan: "free", label: "kept" }))._unsafeUnwrap();
  expect((await store.as(secret).listPets()).isOk()).toBe(true);
}

it("a store keeps no secret in memory, not even as the parent of a substring", async () => {
  const store = createPetStore();
  await issueAndForget(store);
  let strings = "";
  for await (const chunk of getHeapSnapshot()) strings += String(chunk);
  expect(strings).toContain('"kept"');
  expect(strings.match(/pet_live_[0-9A-Za-z]{36}/g)).toBeNull();
  expect((await store.keys.list())._unsafeUnwrap().keys[0]?.hint).toMatch(/^pet_live_\w{4}$/);
});
