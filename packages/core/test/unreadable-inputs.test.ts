import { createMemoryStorage, type Caller, type PetStore } from "@petstore/core";
import type { ResultAsync } from "neverthrow";
import { describe, expect, it } from "vitest";
import { error, openStore, value } from "./support/open-store.js";

/** What the calls below are made on. */
interface Opened {
  readonly store: PetStore;
  readonly caller: Caller;
  readonly id: string;
}

/** A call as a JavaScript host might make it, without types. */
type Call = (opened: Opened, input: never) => ResultAsync<unknown, { readonly code: string }>;

const pet = { name: "Rex", categoryId: 1, status: "sold" };
const query = { limit: 5, status: "sold", after: 0 };
const limits = { perMinute: 1, perDay: 1 };
const own = { plan: "enterprise", limits };
const request = { ...own, label: "acme", expiresAt: 2 ** 52 };

const calls: readonly (readonly [string, Call, object, string])[] = [
  ["createPet", ({ caller }, input) => caller.createPet(input), pet, "invalid_pet"],
  ["listPets", ({ caller }, input) => caller.listPets(input), query, "invalid_query"],
  [
    "createPet on an admission",
    ({ caller }, input) => caller.admit().andThen((admission) => admission.createPet(input)),
    pet,
    "invalid_pet",
  ],
  [
    "listPets on an admission",
    ({ caller }, input) => caller.admit().andThen((admission) => admission.listPets(input)),
    query,
    "invalid_query",
  ],
  ["trusted.createPet", ({ store }, input) => store.trusted.createPet(input), pet, "invalid_pet"],
  ["trusted.listPets", ({ store }, input) => store.trusted.listPets(input), query, "invalid_query"],
  [
    "trusted.createPets",
    ({ store }, input) => store.trusted.createPets(input),
    [pet, pet],
    "invalid_pets",
  ],
  ["keys.issue", ({ store }, input) => store.keys.issue(input), request, "invalid_key_request"],
  [
    "keys.list",
    ({ store }, input) => store.keys.list(input),
    { limit: 5, banned: true },
    "invalid_key_request",
  ],
  [
    "keys.rotate",
    ({ store, id }, input) => store.keys.rotate(id, input),
    { overlapSeconds: 5 },
    "invalid_key_request",
  ],
  [
    "keys.changePlan",
    ({ store, id }, input) => store.keys.changePlan(id, input),
    own,
    "invalid_key_request",
  ],
];

async function open(): Promise<Opened> {
  const { store, issue } = openStore();
  const { id, secret } = await issue();
  return { store, caller: store.as(secret), id };
}

function boom(): never {
  throw new Error("not today");
}

/** The input with a getter in the place of one field, which counts how often it is read. */
function withGetter(input: object, field: string, read: (reads: number) => unknown): object {
  let reads = 0;
  const copy: object = Array.isArray(input) ? [...(input as unknown[])] : { ...input };
  return Object.defineProperty(copy, field, {
    enumerable: true,
    get: () => read((reads += 1)),
  });
}

function revoked(input: object): object {
  const { proxy, revoke } = Proxy.revocable(input, {});
  revoke();
  return proxy;
}

describe.each(calls)("%s", (_, call, input, code) => {
  const fields = Object.keys(input);

  it("takes an input that can be read", async () => {
    value(await call(await open(), input as never));
  });

  it.each(fields)("refuses an input whose %s throws when it is read", async (field) => {
    const refusal = error(await call(await open(), withGetter(input, field, boom) as never));
    expect(refusal).toMatchObject({ code, message: expect.any(String) as string });
  });

  it.each(fields)("reads %s once", async (field) => {
    const once: unknown = Reflect.get(input, field);
    const changing = withGetter(input, field, (reads) => (reads === 1 ? once : Symbol("evil")));
    value(await call(await open(), changing as never));
  });

  it.each<[string, object]>([
    ["revoked", revoked(input)],
    ["with fields that cannot be looked for", new Proxy(input, { getOwnPropertyDescriptor: boom })],
    ["with values that cannot be had", new Proxy(input, { get: boom })],
  ])("refuses a proxy %s", async (__, proxy) => {
    expect(error(await call(await open(), proxy as never)).code).toBe(code);
  });

  it("counts no inherited field", async () => {
    const asked: PropertyKey[] = [];
    const prototype = new Proxy({}, { get: (___, name) => asked.push(name) });
    await call(await open(), Object.create(prototype) as never);
    expect(asked).toEqual([]);
  });
});

describe("the fields of what is refused", () => {
  it("are named when they cannot be read", async () => {
    const { store } = await open();
    const unnamed = withGetter(pet, "name", boom) as never;
    expect(error(await store.trusted.createPet(unnamed)).message).toMatch(/^name must be/);
    const unlimited = withGetter(query, "limit", boom) as never;
    expect(error(await store.trusted.listPets(unlimited)).message).toMatch(/^limit must be/);
    const endless = withGetter(request, "expiresAt", boom) as never;
    expect(error(await store.keys.issue(endless)).message).toMatch(/^expiresAt must be/);
    const pets = withGetter([pet, pet], "1", boom) as never;
    expect(error(await store.trusted.createPets(pets))).toMatchObject({ problems: [{ index: 1 }] });
  });
});

describe("a key's request", () => {
  it.each(["perMinute", "perDay"])("is refused when its limits' %s throws", async (field) => {
    const { store, id } = await open();
    const input = { plan: "enterprise", limits: withGetter(limits, field, boom) as never };
    expect(error(await store.keys.issue(input)).code).toBe("invalid_key_request");
    expect(error(await store.keys.changePlan(id, input)).code).toBe("invalid_key_request");
  });

  it("has limits that are read once", async () => {
    const storage = createMemoryStorage();
    const { store } = openStore({ storage });
    const changing = withGetter(limits, "perMinute", (reads) => (reads === 1 ? 7 : "evil"));
    const issued = value(await store.keys.issue({ ...own, limits: changing as never }));
    expect(issued.key.limits).toEqual({ perMinute: 7, perDay: 1 });
    expect(value(await storage.keys.find(issued.key.id))?.key.limits.perMinute).toBe(7);
  });

  it.each<[string, object]>([
    ["a Date that is none", Object.create(Date.prototype) as object],
    ["a revoked Date", revoked(new Date(2 ** 42))],
  ])("is refused when it expires at %s", async (_, expiresAt) => {
    const { store } = await open();
    const refusal = error(await store.keys.issue({ plan: "free", expiresAt: expiresAt as never }));
    expect(refusal.message).toMatch(/^expiresAt must be/);
  });

  it("expires at a Date's own time, whatever the Date says", async () => {
    const { store } = await open();
    const expiresAt = Object.assign(new Date(2 ** 42), { getTime: boom });
    expect(value(await store.keys.issue({ plan: "free", expiresAt })).key.expiresAt).toBe(2 ** 42);
  });
});

it.each([-1, 1.5, Number.NaN, "2", 2 ** 32])("a list of %j pets is refused", async (length) => {
  const { store } = await open();
  const get = (pets: object, name: PropertyKey): unknown =>
    name === "length" ? length : Reflect.get(pets, name);
  const pets = new Proxy([pet], { get });
  expect(error(await store.trusted.createPets(pets as never)).code).toBe("invalid_pets");
});
