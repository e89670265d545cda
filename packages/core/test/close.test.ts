import { setImmediate } from "node:timers/promises";
import { ok } from "neverthrow";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createMemoryStorage, createPetStore, type Storage } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

/** A memory storage whose creates wait to be released, one by one, and that counts its closings. */
function slowStorage() {
  const inner = createMemoryStorage();
  const waiting: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
  let closed = 0;
  const storage: Storage = {
    ...inner,
    pets: {
      ...inner.pets,
      create: async (pet) => {
        await wait();
        return inner.pets.create(pet);
      },
    },
    close: () => {
      closed += 1;
      return Promise.resolve(ok());
    },
  };
  return { storage, release: () => waiting.shift()?.(), closings: () => closed };
}

describe("close", () => {
  it("refuses new calls of every kind with store_closed", async () => {
    const { store, issue } = openStore();
    const { id, secret } = await issue();
    const admission = value(await store.as(secret).admit());
    value(await store.close());
    const refusals = await Promise.all([
      store.as(secret).listPets(),
      store.as(undefined).listPets(),
      store.as(secret).admit(),
      admission.listPets(),
      store.trusted.listPets(),
      store.keys.find(id),
      store.keys.issue({ plan: "free" }),
    ]);
    expect(refusals.map((refusal) => error<unknown, { code: string }>(refusal).code)).toEqual(
      Array(7).fill("store_closed"),
    );
    expect(error(await store.as(secret).listPets()).quota.limit).toBe(60);
    expect(error(await store.as(secret).admit()).quota.limit).toBe(60);
  });

  it("lets running calls finish before it closes the storage", async () => {
    const { storage, release, closings } = slowStorage();
    const store = createPetStore({ storage });
    const { secret } = value(await store.keys.issue({ plan: "free" }));
    const caller = store.as(secret);
    const names = ["Rex", "Ada"];
    const creating = names.map((name) => caller.createPet({ name, categoryId: 1n }));
    const closing = store.close();
    for (let running = creating.length; running > 0; running -= 1) {
      await setImmediate();
      expect(closings()).toBe(0);
      release();
    }
    const created = await Promise.all(creating);
    expect(created.map((each) => value(each).pet.name)).toEqual(names);
    value(await closing);
    expect(closings()).toBe(1);
  });

  it("does not wait for a refused call", async () => {
    const { store } = openStore();
    expect(error(await store.as(undefined, null as never).admit()).code).toBe("missing_api_key");
    expect(error(await store.as(5 as never, 5 as never).admit()).code).toBe("invalid_api_key");
    value(await store.close());
  });

  it("closes the storage once, however often it is called", async () => {
    const { storage, closings } = slowStorage();
    const store = createPetStore({ storage });
    const results = await Promise.all([store.close(), store.close()]);
    results.push(await store.close());
    expect(results.every((result) => result.isOk())).toBe(true);
    expect(closings()).toBe(1);
  });

  it("ends at its deadline when a call never settles, and still closes the storage", async () => {
    const { storage, closings } = slowStorage();
    const store = createPetStore({ storage, closeTimeoutSeconds: 3 });
    void store.trusted.createPet({ name: "Rex", categoryId: 1n });
    const closed = await afterFakeSeconds(3, () => store.close());
    expect(error(closed)).toMatchObject({
      code: "storage_unavailable",
      message: "The store is closed, but 1 call did not end within 3 seconds.",
    });
    expect(closings()).toBe(1);
  });

  it("ends after ten seconds by default when the storage's own close never settles", async () => {
    const close = () => new Promise<never>(() => undefined);
    const store = createPetStore({ storage: { ...createMemoryStorage(), close } });
    const closed = await afterFakeSeconds(10, () => store.close());
    expect(error(closed).message).toBe(
      "The store is closed, but the storage did not close within 10 seconds.",
    );
  });

  it("leaves no timer behind, and neither does any call", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { store, issue } = openStore({ ban: { graceSeconds: 0 } });
    const { secret } = await issue();
    for (let call = 0; call < 130; call += 1) await store.as(secret).listPets();
    expect(vi.getTimerCount()).toBe(0);
    value(await store.close());
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** Resolves to the outcome of an action, which must settle after exactly so many seconds of a fake timer. */
async function afterFakeSeconds<T>(seconds: number, action: () => PromiseLike<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let settled = 0;
  const outcome = Promise.resolve(action()).finally(() => (settled += 1));
  await vi.advanceTimersByTimeAsync(seconds * 1_000 - 1);
  expect(settled).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  await setImmediate();
  expect(settled).toBe(1);
  return outcome;
}
