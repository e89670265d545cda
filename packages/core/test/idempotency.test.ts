import { createHash } from "node:crypto";
import { expect, it, vi } from "vitest";
import type { PetStoreEvent, PetStoreOptions } from "@petstore/core";
import { DAY, error, openStore, rex, value } from "./support/open-store.js";

const once = { idempotencyKey: "order-1" };

async function openWithKey(options: PetStoreOptions = {}) {
  const opened = openStore(options);
  const created: PetStoreEvent[] = [];
  opened.store.events.on("pet_created", (event) => created.push(event));
  return { ...opened, ...(await opened.issue()), trusted: opened.store.trusted, created };
}

it("adds one pet, returns it again, refuses another one, charges each call, and emits one event", async () => {
  const { store, trusted, caller, created } = await openWithKey();
  const first = value(await caller.createPet(rex, once));
  const retry = value(await caller.createPet({ ...rex, status: "available" }, once));
  expect(first).toMatchObject({ pet: { id: 1n, ...rex, status: "available" }, replayed: false });
  expect(retry).toMatchObject({ pet: first.pet, replayed: true });
  expect(error(await caller.createPet({ ...rex, status: "sold" }, once))).toMatchObject({
    code: "idempotency_key_reused",
    quota: { remaining: 57 },
  });
  expect([first.quota.remaining, retry.quota.remaining]).toEqual([59, 58]);
  expect(value(await trusted.listPets()).pets).toEqual([first.pet]);
  await store.close();
  expect(created).toHaveLength(1);
});

it("takes no longer for a name that looks like JSON", async () => {
  const { trusted } = await openWithKey();
  const pet = { ...rex, name: ",null".repeat(13_000) };
  const start = performance.now();
  for (let call = 0; call < 20; call += 1) value(await trusted.createPet(pet, once));
  expect(performance.now() - start).toBeLessThan(1_000);
});

it("keeps the keys of each API key, and of the host, apart; a rotation keeps them", async () => {
  const { store, trusted, id, caller, issue } = await openWithKey();
  const other = (await issue()).caller;
  expect(value(await caller.createPet(rex, once)).replayed).toBe(false);
  expect(value(await other.createPet(rex, once)).replayed).toBe(false);
  expect(value(await trusted.createPet(rex, once)).replayed).toBe(false);
  const { secret } = value(await store.keys.rotate(id));
  const retry = value(await store.as(secret).createPet(rex, once));
  expect(retry).toMatchObject({ pet: { id: 1n }, replayed: true });
});

it.each([
  ["for a day", {}, DAY],
  ["as long as the host says", { idempotencyKeySeconds: 5 }, 5_000],
])("remembers a key %s, to the millisecond", async (_, options, milliseconds) => {
  const { trusted, clock } = await openWithKey(options);
  value(await trusted.createPet(rex, once));
  clock.advance(milliseconds - 1);
  expect(value(await trusted.createPet(rex, once)).replayed).toBe(true);
  clock.advance(1);
  const again = value(await trusted.createPet(rex, once));
  expect(again).toMatchObject({ pet: { id: 2n }, replayed: false });
});

it("remembers no key if the host switches it off", async () => {
  const { trusted, storage } = await openWithKey({ idempotencyKeySeconds: 0 });
  const createOnce = vi.spyOn(storage.pets, "createOnce");
  value(await trusted.createPet(rex, once));
  expect(value(await trusted.createPet({ ...rex, name: "Ada" }, once)).replayed).toBe(false);
  expect(createOnce).not.toHaveBeenCalled();
});

it("is stored as digests that are the same in every version", async () => {
  const { trusted, storage, id, caller } = await openWithKey();
  const createOnce = vi.spyOn(storage.pets, "createOnce");
  value(await caller.createPet(rex, once));
  value(await trusted.createPet(rex, once));
  const digest = (text: string) => createHash("sha256").update(text).digest("base64url");
  const fingerprint = digest('["Rex","7","available"]');
  expect(createOnce.mock.calls.map(([, request]) => request)).toMatchObject([
    { token: digest(`${id} order-1`), fingerprint },
    { token: digest(" order-1"), fingerprint },
  ]);
});

const WRONG = ["", " ", "a b", "é", "a\n", "\u007f", "a".repeat(256), 5 as never];
it.each(WRONG)("refuses the key %j", async (idempotencyKey) => {
  const { code } = error(await openStore().store.trusted.createPet(rex, { idempotencyKey }));
  expect(code).toBe("invalid_idempotency_key");
});

it.each([null, 5])("refuses the options %j", async (options) => {
  const { store, issue } = openStore();
  for (const pets of [store.trusted, (await issue()).caller])
    expect(error<unknown, unknown>(await pets.createPet(rex, options as never))).toMatchObject({
      code: "invalid_idempotency_key",
    });
});

it.each(["a", '~!"\\,;', "a".repeat(255)])("accepts the key %j", async (idempotencyKey) => {
  const created = await openStore().store.trusted.createPet(rex, { idempotencyKey });
  expect(value(created).pet.id).toBe(1n);
});
