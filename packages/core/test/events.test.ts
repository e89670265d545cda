import { setImmediate as delivered } from "node:timers/promises";
import { inspect } from "node:util";
import { expect, it, vi } from "vitest";
import { createMemoryStorage, type PetStoreEvent, type PetStoreOptions } from "@petstore/core";
import { windowNames, windows } from "@petstore/core/facts";
import { storageError, type Storage, type StorageWarning } from "@petstore/core/storage";
import { err, ok } from "neverthrow";
import { collect, error, openStore, ownLimits, rex, value } from "./support/open-store.js";

const loop = { cause: {} };
loop.cause = loop;

function openRecorded(options: PetStoreOptions = {}) {
  const opened = openStore({ ban: { graceSeconds: 0 }, ...options });
  const events: PetStoreEvent[] = [];
  opened.store.events.onAny((event) => events.push(event));
  return { ...opened, events };
}

function openWarning(close?: Storage["close"]) {
  const warning = { code: "large_log", message: "/home/ada/pets.db-wal is large." };
  let warn: ((warning: StorageWarning) => void) | undefined;
  const memory = createMemoryStorage();
  const onWarning = (it: typeof warn) => void (warn = it);
  const closing = () => (warn?.(warning), (close ?? memory.close)());
  const opened = openRecorded({ storage: { ...memory, onWarning, close: closing } });
  return { ...opened, warning, warn: () => warn?.(warning) };
}

it("report everything that happens, in order, with the clock's time, nothing else, and no secret", async () => {
  const { store, clock, events, issue } = openRecorded();
  const { id, secret, caller } = await issue(ownLimits(3, 99));
  error(await store.trusted.createPet({ ...rex, name: "\0" }));
  error(await store.keys.revoke("key_x"));
  error(await store.keys.issue({ plan: "gold" }));
  value(await store.keys.liftBan(id));
  for (let request = 0; request < 61; request += 1) await store.as("bad", "192.0.2.1").admit();
  value(await caller.createPet(rex));
  value(await caller.getPet(1n));
  clock.advance(1_000);
  value(await store.trusted.createPet({ ...rex, name: "Ada" }));
  value(await caller.listPets());
  for (let refusal = 0; refusal < 6; refusal += 1) error(await caller.listPets());
  value(await store.keys.liftBan(id));
  for (const plan of ["pro", "pro"]) value(await store.keys.changePlan(id, { plan }));
  value(await store.keys.rotate(id));
  value(await store.keys.revoke(id));
  const at = clock.now();
  clock.advance(1_000);
  value(await store.keys.revoke(id));
  await delivered();
  expect(events).toMatchObject([
    { type: "key_issued", at: at - 1_000, keyId: id, key: { id } },
    { type: "rate_limit_exceeded", keyId: undefined, clientAddress: "192.0.2.1", limit: 60 },
    { type: "pet_created", at: at - 1_000, keyId: id, pet: { id: 1n } },
    { type: "deprecated_operation_used", operation: "getPet", keyId: id },
    { type: "pet_created", at, keyId: undefined, pet: { id: 2n } },
    { type: "rate_limit_exceeded", keyId: id, window: "minute", limit: 3 },
    { type: "rate_limit_exceeded", keyId: id },
    { type: "rate_limit_exceeded", keyId: id },
    { type: "key_banned", keyId: id, until: at + 60_000 },
    { type: "ban_lifted", keyId: id, key: { id, bannedUntil: undefined } },
    { type: "plan_changed", keyId: id, key: { id, plan: "pro" } },
    { type: "key_rotated", keyId: id, key: { id } },
    { type: "key_revoked", at, keyId: id, key: { id, revokedAt: at } },
  ]);
  expect(events).toHaveLength(13);
  expect(inspect(events, { depth: 9 })).not.toContain(secret.slice(13));
});

it("report a warning of the storage; its signal has no message", async () => {
  const signals = collect("petstore:storage-warning");
  const { clock, events, warning, warn } = openWarning();
  warn();
  await delivered();
  expect(events).toEqual([{ type: "storage_warning", at: clock.now(), ...warning }]);
  expect(signals).toEqual([{ code: "large_log" }]);
});

it("are emitted after the result of their call is known", async () => {
  const { store, storage, events } = openRecorded();
  vi.spyOn(storage.pets, "find").mockImplementation(async () => {
    for (const turn of [1, 2]) await delivered(turn);
    expect(events).toEqual([]);
    return ok(undefined);
  });
  expect(error(await store.trusted.getPet(1n)).code).toBe("pet_not_found");
  await delivered();
  expect(events).toMatchObject([{ type: "deprecated_operation_used" }]);
});

it.each(["succeeds", "fails"])("are all emitted when closing, which warns, %s", async (how) => {
  const fail = () => Promise.reject(new Error("disk full"));
  const { store, events, issue, warning, warn } = openWarning(how === "fails" ? fail : undefined);
  await issue();
  const created = store.trusted.createPet(rex);
  expect((await store.close()).isOk()).toBe(how === "succeeds");
  expect(events).toMatchObject([{ type: "key_issued" }, { type: "pet_created" }, warning]);
  value(await created);
  if (how === "fails") return;
  warn();
  await delivered();
  expect(events).toHaveLength(3);
});

it("cannot be changed by a listener, nor what the caller gets", async () => {
  const { store } = openStore();
  const last = vi.fn();
  store.events.onAny((event) => {
    if (event.type === "key_issued") Object.assign(event.key.secrets[0] ?? {}, { hint: "" });
  });
  store.events.onAny((event) => Object.assign(event, { type: "" }));
  store.events.onAny(last);
  const { key } = value(await store.keys.issue({ plan: "free" }));
  await delivered();
  const event = { type: "key_issued", at: key.createdAt, keyId: key.id, key };
  expect(last.mock.calls).toEqual([[event]]);
  const { secrets, usage, limits } = key;
  expect(secrets[0]?.hint).toMatch(/^pet_live_/);
  expect([secrets, usage, usage.minute, limits].every(Object.isFrozen)).toBe(true);
});

it.each([
  ["typo", () => undefined, "No event is called 'typo'."],
  ["constructor", () => undefined, "No event is called 'constructor'."],
  ["key_issued", undefined, "The listener must be a function."],
])("refuse a listener for %s that is %o", (type, listener, message) => {
  const { events } = openStore().store;
  expect(() => events.on(type as never, listener as never)).toThrow(new TypeError(message));
});

it.each(windowNames)("say that the %s is used up, like the refusal", async (window) => {
  const { clock, events, issue } = openRecorded({ ban: false });
  const { plan, limits } = ownLimits(4, 4);
  const { id, caller } = await issue({ plan, limits: { ...limits, [windows[window].limit]: 2 } });
  const half = windows[window].milliseconds / 2;
  value(await caller.admit());
  clock.advance(half);
  value(await caller.admit());
  const used = `The limit of 2 requests per ${window} is used up`;
  const message = `${used}; come back in ${half / 1_000} seconds.`;
  const quota = { [window]: { limit: 2, remaining: 0, resetAt: clock.now() + half } };
  expect(error(await caller.admit())).toMatchObject({ message, window, quota });
  clock.advance(half - 1);
  expect(error(await caller.admit()).message).toBe(`${used}; come back in 1 second.`);
  await delivered();
  expect(events[1]).toMatchObject({ type: "rate_limit_exceeded", keyId: id, window, limit: 2 });
});

it("reach the listeners for their type only, until the listeners are removed", async () => {
  const { store, issue } = openStore();
  const listener = vi.fn();
  const stop = store.events.on("pet_created", listener);
  await issue();
  await store.trusted.createPet(rex);
  await delivered();
  stop();
  await store.trusted.createPet(rex);
  await delivered();
  expect(listener.mock.calls).toMatchObject([[{ type: "pet_created", pet: { name: "Rex" } }]]);
});

it("a listener that throws, rejects or never settles affects neither requests nor other listeners; one that another adds hears only later events", async () => {
  const { store } = openStore();
  const [late, last] = [vi.fn(), vi.fn()];
  store.events.onAny(() => store.events.onAny(late));
  store.events.onAny(() => expect.fail("a listener's own"));
  store.events.onAny(() => Promise.reject(new Error("a listener's own")));
  store.events.onAny(() => new Promise(() => undefined));
  store.events.onAny(last);
  value(await store.trusted.createPet(rex));
  value(await store.trusted.createPet(rex));
  await delivered();
  expect([late, last].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
});

it.each([
  [Object.assign(new Error("/home/ada/pets.db is full"), { code: "SQLITE_FULL" }), "SQLITE_FULL"],
  [Object.assign(new Error("no"), { code: "/home/ada/pets.db" }), undefined],
  [new Error("no", { cause: { code: "EIO" } }), "EIO"],
  [new Error("no"), undefined],
  [{ code: 5 }, undefined],
  [null, undefined],
  [loop, undefined],
])("a failing call publishes the code of %s and nothing else", async (cause, code) => {
  const failures = collect("petstore:storage-error");
  const { store, storage } = openStore();
  const failure = err(storageError("Adding a pet failed.", cause));
  Object.assign(storage.pets, { create: () => Promise.resolve(failure) });
  expect(error(await store.trusted.createPet(rex))).toMatchObject({ cause: failure.error });
  await store.trusted.listPets({ limit: 1_000 });
  expect(failures).toEqual([{ code }]);
});
