import { describe, expect, it } from "vitest";
import {
  createManualClock,
  createMemoryStorage,
  createPetStore,
  type PetStoreEvent,
  type Storage,
  type StorageWarning,
} from "@petstore/core";
import { ok } from "neverthrow";
import { error, openStore, value } from "./support/open-store.js";

/** Lets everything be delivered that has happened so far. */
const delivered = () => new Promise((resolve) => setImmediate(resolve));

/** As `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

function openRecorded() {
  const opened = openStore({ ban: { graceSeconds: 0 } });
  const events: PetStoreEvent[] = [];
  opened.store.events.onAny((event) => events.push(event));
  return { ...opened, events };
}

describe("events", () => {
  it("report everything that happens, in order, with the clock's time", async () => {
    const { store, clock, events, issue } = openRecorded();
    const { id, secret } = await issue({
      plan: "enterprise",
      limits: { perMinute: 3, perDay: 99 },
    });
    const caller = store.as(secret);
    value(await caller.createPet({ name: "Rex", categoryId: 1n }));
    value(await caller.getPet(1n));
    clock.advance(1_000);
    value(await store.trusted.createPet({ name: "Ada", categoryId: 1n }));
    value(await caller.listPets());
    for (let refusal = 0; refusal < 6; refusal += 1) error(await caller.listPets());
    value(await store.keys.liftBan(id));
    value(await store.keys.changePlan(id, { plan: "pro" }));
    value(await store.keys.rotate(id));
    value(await store.keys.revoke(id));
    const at = clock.now();
    clock.advance(1_000);
    value(await store.keys.revoke(id));
    await delivered();
    expect(events).toMatchObject([
      { type: "key_issued", at: at - 1_000, key: { id } },
      { type: "pet_created", at: at - 1_000, keyId: id, pet: { id: 1n } },
      { type: "deprecated_operation_used", operation: "getPet", keyId: id },
      { type: "pet_created", at, keyId: undefined, pet: { id: 2n } },
      { type: "limit_exceeded", keyId: id, window: "minute", limit: 3 },
      { type: "limit_exceeded", keyId: id },
      { type: "limit_exceeded", keyId: id },
      { type: "key_banned", keyId: id, until: at + 60_000 },
      { type: "ban_lifted", key: { id, bannedUntil: undefined } },
      { type: "plan_changed", key: { id, plan: "pro" } },
      { type: "key_rotated", key: { id } },
      { type: "key_revoked", at, key: { id, revokedAt: at } },
    ]);
  });

  it("report a warning of the storage", async () => {
    let warn: ((warning: StorageWarning) => void) | undefined;
    const storage: Storage = {
      ...createMemoryStorage(),
      onWarning: (listener) => void (warn = listener),
    };
    const clock = createManualClock();
    const store = createPetStore({ storage, clock });
    const events: PetStoreEvent[] = [];
    store.events.on("storage_warning", (event) => events.push(event));
    warn?.({ code: "large_log", message: "The log is large." });
    await delivered();
    const warning = { code: "large_log", message: "The log is large." };
    expect(events).toEqual([{ type: "storage_warning", at: clock.now(), ...warning }]);
  });

  it("are emitted after the result of their call is known", async () => {
    const { promise, resolve } = withResolvers();
    const storage = createMemoryStorage();
    const find = async () => {
      await promise;
      return ok(undefined);
    };
    const pets = { ...storage.pets, find };
    const store = createPetStore({ storage: { ...storage, pets } });
    const events: PetStoreEvent[] = [];
    store.events.onAny((event) => events.push(event));
    const result = store.trusted.getPet(1n);
    await delivered();
    expect(events).toEqual([]);
    resolve();
    error(await result);
    await delivered();
    expect(events).toMatchObject([{ type: "deprecated_operation_used" }]);
  });

  it("are all emitted when the store is closed", async () => {
    const { store, events, issue } = openRecorded();
    await issue();
    const created = store.trusted.createPet({ name: "Rex", categoryId: 1n });
    value(await store.close());
    expect(events).toMatchObject([{ type: "key_issued" }, { type: "pet_created" }]);
    value(await created);
  });

  it("name the origin of refused callers without a key", async () => {
    const { store, events } = openRecorded();
    for (let request = 0; request < 61; request += 1) await store.as("bad", "192.0.2.1").admit();
    await delivered();
    expect(events).toMatchObject([
      { type: "limit_exceeded", keyId: undefined, origin: "192.0.2.1", limit: 60 },
    ]);
  });

  it.each([
    ["minute", { perMinute: 1, perDay: 2 }],
    ["day", { perMinute: 2, perDay: 1 }],
  ] as const)("say that the %s is used up, as the refusal does", async (window, limits) => {
    const { store, events, issue } = openRecorded();
    const { id, secret } = await issue({ plan: "enterprise", limits });
    value(await store.as(secret).admit());
    const { message } = error(await store.as(secret).admit());
    const seconds = { minute: 60, day: 86_400 }[window];
    expect(message).toBe(
      `The limit of 1 request per ${window} is used up; come back in ${seconds} seconds.`,
    );
    await delivered();
    expect(events).toMatchObject([
      { type: "key_issued" },
      { type: "limit_exceeded", keyId: id, window, limit: 1 },
    ]);
  });

  it("report nothing that did not happen", async () => {
    const { store, events } = openRecorded();
    error(await store.trusted.createPet({ name: "\0", categoryId: 1n }));
    error(await store.keys.revoke("key_x"));
    error(await store.keys.issue({ plan: "gold" }));
    const { key } = value(await store.keys.issue({ plan: "free" }));
    value(await store.keys.liftBan(key.id));
    await delivered();
    expect(events.map(({ type }) => type)).toEqual(["key_issued"]);
  });

  it("reach the listeners for their type only, until the listeners are removed", async () => {
    const { store } = openStore();
    const heard: PetStoreEvent[] = [];
    const stop = store.events.on("pet_created", (event) => heard.push(event));
    await store.keys.issue({ plan: "free" });
    await store.trusted.createPet({ name: "Rex", categoryId: 1n });
    await delivered();
    stop();
    await store.trusted.createPet({ name: "Ada", categoryId: 1n });
    await delivered();
    expect(heard).toMatchObject([{ type: "pet_created", pet: { name: "Rex" } }]);
  });

  it("a listener that throws, rejects or never settles affects neither requests nor other listeners", async () => {
    const { store } = openStore();
    let heard = 0;
    store.events.onAny(() => {
      throw new Error("a listener's own");
    });
    store.events.onAny(() => Promise.reject(new Error("a listener's own")));
    store.events.onAny(() => new Promise(() => undefined));
    store.events.onAny(() => (heard += 1));
    value(await store.trusted.createPet({ name: "Rex", categoryId: 1n }));
    value(await store.trusted.createPet({ name: "Ada", categoryId: 1n }));
    await delivered();
    expect(heard).toBe(2);
  });

  it("contain no secret", async () => {
    const { events, issue } = openRecorded();
    const { secret } = await issue();
    await delivered();
    expect(JSON.stringify(events)).not.toContain(secret.slice(13));
  });
});
