import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { err } from "neverthrow";
import { expect, onTestFinished, test } from "vitest";
import {
  createMemoryStorage,
  storageFailure,
  type Signals,
  type StorageWarning,
} from "@petstore/core";
import { codes, openStore } from "./support/open-store.js";

/** Collects the signals of a channel until the test ends. */
function collect<Name extends keyof Signals>(name: Name): readonly Signals[Name][] {
  const signals: Signals[Name][] = [];
  const listener = (signal: unknown) => void signals.push(signal as Signals[Name]);
  subscribe(name, listener);
  onTestFinished(() => void unsubscribe(name, listener));
  return signals;
}

test("a ban is published once, with the plan of its key", async () => {
  const bans = collect("petstore:ban");
  const { issue } = openStore({ ban: { graceSeconds: 0, afterRefusals: 2 } });
  await codes((await issue()).caller, 69);
  expect(bans).toEqual([{ plan: "free", milliseconds: 60_000 }]);
});

test("results and refusals have the plan of their key; without a valid key there is none", async () => {
  const { store, issue } = openStore({ plans: { tiny: { perMinute: 1, perDay: 9 } } });
  const { caller } = await issue({ plan: "tiny" });
  expect(await caller.listPets()).toMatchObject({ value: { plan: "tiny" } });
  expect(await caller.listPets()).toMatchObject({
    error: { code: "rate_limit_exceeded", plan: "tiny" },
  });
  expect((await store.as("x").listPets())._unsafeUnwrapErr()).not.toHaveProperty("plan");
});

test.each([
  [Object.assign(new Error("/home/ada/pets.db is full"), { code: "SQLITE_FULL" }), "SQLITE_FULL"],
  [Object.assign(new Error("no"), { code: "/home/ada/pets.db" }), undefined],
  [new Error("no", { cause: { code: "EIO" } }), "EIO"],
  [new Error("no"), undefined],
  [{ code: "EIO: /home/ada" }, undefined],
  [{ code: 5 }, undefined],
  [null, undefined],
  ["EIO", undefined],
])("a failing call publishes the code of %s and nothing else", async (cause, code) => {
  const failures = collect("petstore:storage-failure");
  const { store, storage } = openStore();
  const failure = err(storageFailure("Adding a pet failed.", cause));
  Object.assign(storage.pets, { create: () => Promise.resolve(failure) });
  const created = await store.trusted.createPet({ name: "", categoryId: 1 });
  expect(created).toMatchObject({ error: { cause: { message: "Adding a pet failed." } } });
  await store.trusted.listPets({ limit: 1_000 });
  expect(failures).toEqual([{ code }]);
});

test("a warning of the storage publishes its code, not its message", () => {
  const warnings = collect("petstore:storage-warning");
  let warn: (warning: StorageWarning) => void = () => undefined;
  openStore({ storage: { ...createMemoryStorage(), onWarning: (listener) => (warn = listener) } });
  warn({ code: "large_log", message: "/home/ada/pets.db-wal is large." });
  expect(warnings).toEqual([{ code: "large_log" }]);
});
