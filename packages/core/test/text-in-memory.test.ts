import { getHeapSnapshot } from "node:v8";
import { createPetStore, type PetStore } from "@petstore/core";
import { expect, it } from "vitest";

const LONG = "x".repeat(15_000);

/** Uses a key and forgets its secret; refuses callers whose client addresses are long, or were cut from a long header. */
async function callFromAfar(store: PetStore): Promise<void> {
  const { secret } = (await store.keys.issue({ plan: "free", label: "kept" }))._unsafeUnwrap();
  expect((await store.as(secret).listPets()).isOk()).toBe(true);
  const number = 100_000 + LONG.length;
  const header = `visitor-with-a-name, 2001:db8:1:2::1234, visitor-${number}${LONG}`;
  for (const clientAddress of [...header.split(", "), `fe80::1%visitor-${number}${LONG}`])
    expect((await store.as("bad", clientAddress).admit()).isErr()).toBe(true);
}

it("a store keeps no secret and no long client address in memory, not even as the parent of a substring", async () => {
  const store = createPetStore();
  await callFromAfar(store);
  let strings = "";
  for await (const chunk of getHeapSnapshot()) strings += String(chunk);
  expect(strings).toContain('"kept"');
  expect(strings.match(/pet_live_[0-9A-Za-z]{36}/g)).toBeNull();
  expect(strings.match(/visitor-\d{6}/g)).toBeNull();
  expect((await store.keys.list())._unsafeUnwrap().keys[0]?.hint).toMatch(/^pet_live_\w{4}$/);
  expect(store.anonymousQuota("visitor-with-a-name").remaining).toBe(59);
});
