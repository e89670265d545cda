import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMemoryStorage, type CreationRequest, type PetCreated } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

const DAY = 86_400_000;
const rex = { name: "Rex", categoryId: 7n };
const once = { idempotencyKey: "order-1" };

async function openWithKey(...options: Parameters<typeof openStore>) {
  const opened = openStore(...options);
  const { id, secret } = await opened.issue();
  const created: PetCreated[] = [];
  opened.store.events.on("pet_created", (event) => created.push(event));
  return { ...opened, id, secret, caller: opened.store.as(secret), created };
}

describe("createPet with an idempotency key", () => {
  it("adds one pet, returns it again, charges each call, and emits one event", async () => {
    const { store, caller, created } = await openWithKey();
    const first = value(await caller.createPet(rex, once));
    const retry = value(await caller.createPet({ ...rex, status: "available" }, once));
    expect(first).toMatchObject({ pet: { id: 1n, ...rex, status: "available" }, replayed: false });
    expect(retry).toMatchObject({ pet: first.pet, replayed: true });
    expect([first.quota.remaining, retry.quota.remaining]).toEqual([59, 58]);
    expect(value(await store.trusted.listPets()).pets).toEqual([first.pet]);
    await store.close();
    expect(created).toHaveLength(1);
  });

  it("adds one pet for twins that arrive at once", async () => {
    const { store, caller } = await openWithKey();
    const twins = await Promise.all([1, 2, 3].map(() => caller.createPet(rex, once)));
    expect(twins.map((twin) => value(twin).replayed).toSorted()).toEqual([false, true, true]);
    expect(value(await store.trusted.listPets()).pets).toHaveLength(1);
  });

  it("refuses another pet under the same key, and does nothing", async () => {
    const { store, caller } = await openWithKey();
    value(await caller.createPet(rex, once));
    for (const change of [{ name: "rex" }, { categoryId: 8n }, { status: "sold" as const }]) {
      const { code } = error(await caller.createPet({ ...rex, ...change }, once));
      expect(code).toBe("idempotency_key_reused");
    }
    expect(value(await store.trusted.listPets()).pets).toHaveLength(1);
  });

  it("keeps the keys of each API key, and of the host, apart; a rotation keeps them", async () => {
    const { store, id, caller, issue } = await openWithKey();
    const { secret: other } = await issue();
    expect(value(await caller.createPet(rex, once)).replayed).toBe(false);
    expect(value(await store.as(other).createPet(rex, once)).replayed).toBe(false);
    expect(value(await store.trusted.createPet(rex, once)).replayed).toBe(false);
    const { secret: rotated } = value(await store.keys.rotate(id));
    expect(value(await store.as(rotated).createPet(rex, once))).toMatchObject({
      pet: { id: 1n },
      replayed: true,
    });
  });

  it("remembers a key for a day, to the millisecond", async () => {
    const { store, clock } = await openWithKey();
    value(await store.trusted.createPet(rex, once));
    clock.advance(DAY - 1);
    expect(value(await store.trusted.createPet(rex, once)).replayed).toBe(true);
    clock.advance(1);
    expect(value(await store.trusted.createPet(rex, once))).toMatchObject({
      pet: { id: 2n },
      replayed: false,
    });
  });

  it("remembers a key as long as the host says; 0 switches it off", async () => {
    const { store, clock } = await openWithKey({ idempotencyKeySeconds: 5 });
    value(await store.trusted.createPet(rex, once));
    clock.advance(5_000);
    expect(value(await store.trusted.createPet(rex, once)).replayed).toBe(false);
    const { pets, ...rest } = createMemoryStorage();
    const storage = { ...rest, pets: { ...pets, createOnce: () => expect.fail("remembered") } };
    const { store: off } = await openWithKey({ idempotencyKeySeconds: 0, storage });
    value(await off.trusted.createPet(rex, once));
    expect(value(await off.trusted.createPet({ ...rex, name: "Ada" }, once)).replayed).toBe(false);
  });

  it("does not remember errors", async () => {
    const inner = createMemoryStorage();
    let fails = true;
    const storage = {
      ...inner,
      pets: {
        ...inner.pets,
        createOnce: (...args: Parameters<typeof inner.pets.createOnce>) => {
          if (fails) throw new Error("disk");
          return inner.pets.createOnce(...args);
        },
      },
    };
    const { store } = await openWithKey({ storage });
    expect(error(await store.trusted.createPet({ ...rex, name: "\0" }, once)).code).toBe(
      "invalid_pet",
    );
    expect(error(await store.trusted.createPet(rex, once)).code).toBe("storage_unavailable");
    fails = false;
    expect(value(await store.trusted.createPet(rex, once)).replayed).toBe(false);
  });

  it("is stored as digests that are the same in every version", async () => {
    const { pets, ...rest } = createMemoryStorage();
    const requests: CreationRequest[] = [];
    const createOnce: typeof pets.createOnce = (pet, request) => {
      requests.push(request);
      return pets.createOnce(pet, request);
    };
    const { store, id, caller } = await openWithKey({
      storage: { ...rest, pets: { ...pets, createOnce } },
    });
    value(await caller.createPet(rex, once));
    value(await store.trusted.createPet(rex, once));
    const digest = (text: string) => createHash("sha256").update(text).digest("base64url");
    const fingerprint = digest('["Rex","7","available"]');
    expect(requests).toMatchObject([
      { token: digest(`${id} order-1`), fingerprint },
      { token: digest(" order-1"), fingerprint },
    ]);
  });

  it.each(["", " ", "a b", "é", "a\n", "\u007f", "a".repeat(256), 5 as never])(
    "refuses the key %j",
    async (idempotencyKey) => {
      const { store } = await openWithKey();
      const refused = error(await store.trusted.createPet(rex, { idempotencyKey }));
      expect(refused.code).toBe("invalid_idempotency_key");
    },
  );

  it.each(["a", '~!"\\,;', "a".repeat(255)])("accepts the key %j", async (idempotencyKey) => {
    const { store } = await openWithKey();
    expect(value(await store.trusted.createPet(rex, { idempotencyKey })).pet.id).toBe(1n);
  });
});
