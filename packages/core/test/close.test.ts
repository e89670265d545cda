import { setImmediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { fakeTimers, hostTimers } from "../../../scripts/fake-timers.js";
import type { PetStoreOptions } from "@petstore/core";
import { error, openStore, operations, rex, value } from "./support/open-store.js";

function openSlow(options: PetStoreOptions = {}) {
  const opened = openStore(options);
  const { storage } = opened;
  const waiting: (() => void)[] = [];
  const create = storage.pets.create.bind(storage.pets);
  vi.spyOn(storage.pets, "create").mockImplementation(async (pet) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return create(pet);
  });
  return { ...opened, release: () => waiting.shift()?.(), close: vi.spyOn(storage, "close") };
}

it("refuses new calls of every kind with store_closed", async () => {
  const { store, issue } = openStore();
  const { id, caller: open } = await issue();
  const admission = value(await open.admit());
  value(await store.close());
  const callers = [open, store.as(undefined), admission];
  const calls = Object.values(operations);
  const charged = [...callers.flatMap((caller) => calls.map((call) => call(caller))), open.admit()];
  const others = calls.map((call) => call(store.trusted));
  const keys = [store.keys.find(id), store.keys.issue({ plan: "free" })];
  for (const refused of [...charged, ...others, ...keys])
    expect(error<unknown, unknown>(await refused)).toMatchObject({ code: "store_closed" });
  for (const refused of charged)
    expect(error<unknown, unknown>(await refused)).toMatchObject({ quota: { limit: 60 } });
});

it("lets running calls finish before it closes the storage, once, however often it is called, and waits for no refused one", async () => {
  const { store, issue, release, close } = openSlow();
  expect(error(await store.as(undefined, null as never).admit()).code).toBe("missing_api_key");
  expect(error(await store.as(5 as never, 5 as never).admit()).code).toBe("invalid_api_key");
  const { caller } = await issue();
  const creating = [caller.createPet(rex), caller.createPet(rex)];
  hostTimers();
  const closing = [store.close(), store.close()];
  vi.advanceTimersByTime(3_600_000);
  for (let running = creating.length; running > 0; running -= 1) {
    await setImmediate();
    expect(close).not.toHaveBeenCalled();
    release();
  }
  for (const created of creating) value(await created);
  for (const closed of [...closing, store.close()]) value(await closed);
  expect(close).toHaveBeenCalledOnce();
});

it.each([
  ["a call never settles", 3, "1 call did not end within 3 seconds"],
  ["the storage's own close never settles", 10, "the storage did not close within 10 seconds"],
])("ends at its deadline, by default after ten seconds, when %s", async (_, seconds, problem) => {
  fakeTimers("setTimeout", "clearTimeout");
  const { store, close } = openSlow(seconds === 3 ? { closeTimeoutSeconds: 3 } : {});
  if (seconds === 3) void store.trusted.createPet(rex);
  else close.mockReturnValue(new Promise(() => undefined));
  const settle = vi.fn();
  void store.close().then(settle);
  await vi.advanceTimersByTimeAsync(seconds * 1_000 - 1);
  expect(settle).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await setImmediate();
  expect(settle.mock.calls).toMatchObject([
    [{ error: { code: "storage_unavailable", message: `The store is closed, but ${problem}.` } }],
  ]);
  expect(close).toHaveBeenCalledOnce();
});

it("leaves no timer behind, and neither does any call", async () => {
  fakeTimers();
  const { store, issue } = openStore({ ban: { graceSeconds: 0 } });
  const { caller } = await issue();
  for (let call = 0; call < 130; call += 1) await caller.listPets();
  expect(vi.getTimerCount()).toBe(0);
  value(await store.close());
  expect(vi.getTimerCount()).toBe(0);
});
