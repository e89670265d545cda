import { createMemoryStorage, storageFailure, type Pets, type Storage } from "@petstore/core";
import { createPetsClient, type TransportError } from "@petstore/client";
import { err, type Result, type ResultAsync } from "neverthrow";
import { expect, test } from "vitest";
import { createFetchHandler } from "@petstore/http-adapter";
import { clientOf, serve, stock, type Stocked } from "./support/stores.js";

type Remote = Pets<TransportError>;
type Outcome = Result<unknown, { readonly code: string }>;
type Act = (
  pets: Remote,
  stocked: Stocked,
) => ResultAsync<unknown, { readonly code: string }> | Promise<Outcome>;

const rex = { name: "Rex", categoryId: 7 };
const wrong = (value: unknown): never => value as never;

/** A call, and the code of its outcome; `ok` if it succeeds. */
const rows: readonly (readonly [string, string, Act])[] = [
  ["lists nothing", "ok", (pets) => pets.listPets()],
  [
    "lists the first page",
    "ok",
    async (pets, { store }) => {
      for (const status of ["sold", "available", "sold"] as const)
        await store.trusted.createPet({ ...rex, status });
      return pets.listPets({ limit: 1, status: "sold" });
    },
  ],
  [
    "lists the page after an id",
    "ok",
    async (pets, { store }) => {
      for (let id = 1; id < 4; id += 1) await store.trusted.createPet(rex);
      return pets.listPets({ limit: 2, after: 1n });
    },
  ],
  ["lists after the greatest id", "ok", (pets) => pets.listPets({ after: 2n ** 63n - 1n })],
  ["lists with a limit of 0", "invalid_query", (pets) => pets.listPets({ limit: 0 })],
  ["lists with a fraction", "invalid_query", (pets) => pets.listPets({ limit: 1.5 })],
  ["lists with NaN", "invalid_query", (pets) => pets.listPets({ limit: NaN })],
  ["lists with text", "invalid_query", (pets) => pets.listPets({ limit: wrong("5") })],
  ["lists an unknown status", "invalid_query", (pets) => pets.listPets({ status: wrong("lost") })],
  [
    "lists after a number that is no int64",
    "invalid_query",
    (pets) => pets.listPets({ after: 2n ** 63n }),
  ],
  ["creates a pet", "ok", (pets) => pets.createPet(rex)],
  [
    "creates in the smallest category",
    "ok",
    (pets) => pets.createPet({ ...rex, categoryId: -(2n ** 63n) }),
  ],
  [
    "creates in the greatest category",
    "ok",
    (pets) => pets.createPet({ ...rex, categoryId: 2n ** 63n - 1n, status: "sold" }),
  ],
  ["creates in category -0", "ok", (pets) => pets.createPet({ ...rex, categoryId: -0 })],
  [
    "creates a pet with a difficult name",
    "ok",
    (pets) =>
      pets.createPet({
        ...rex,
        name: '😀 "id":12345678901234567890 \\" \u2028 \n {"int64":"1"} é',
      }),
  ],
  [
    "ignores an id and inherited fields",
    "invalid_pet",
    (pets) => pets.createPet(wrong(Object.create({ ...rex, id: 5 }))),
  ],
  ["creates without fields", "invalid_pet", (pets) => pets.createPet(wrong({}))],
  ["creates from an array", "invalid_pet", (pets) => pets.createPet(wrong([rex]))],
  ["creates from null", "invalid_pet", (pets) => pets.createPet(wrong(null))],
  [
    "creates with wrong fields",
    "invalid_pet",
    (pets) => pets.createPet(wrong({ name: 7n, categoryId: "7", status: null })),
  ],
  [
    "creates with half a surrogate",
    "invalid_pet",
    (pets) => pets.createPet({ ...rex, name: "\ud83d" }),
  ],
  [
    "creates in a category beyond int64",
    "invalid_pet",
    (pets) => pets.createPet({ ...rex, categoryId: 2n ** 63n }),
  ],
  [
    "creates twice with one key",
    "ok",
    async (pets) => {
      await pets.createPet(rex, { idempotencyKey: 'a"b\\c,;' });
      return pets.createPet(rex, { idempotencyKey: 'a"b\\c,;' });
    },
  ],
  [
    "creates another pet with a used key",
    "idempotency_key_reused",
    async (pets) => {
      await pets.createPet(rex, { idempotencyKey: "one" });
      return pets.createPet({ ...rex, name: "Max" }, { idempotencyKey: "one" });
    },
  ],
  [
    "creates with an empty key",
    "invalid_idempotency_key",
    (pets) => pets.createPet(rex, { idempotencyKey: "" }),
  ],
  [
    "creates with a key of two lines",
    "invalid_idempotency_key",
    (pets) => pets.createPet(rex, { idempotencyKey: "a\r\nb" }),
  ],
  [
    "finds a pet",
    "ok",
    async (pets, { store }) => {
      await store.trusted.createPet({ ...rex, categoryId: 9_007_199_254_740_993n });
      return pets.getPet("1");
    },
  ],
  ...["2", "01", "", "..", "1/2", "?", 1.5, 2n ** 64n].map(
    (id) => [`finds no pet ${id}`, "pet_not_found", (pets: Remote) => pets.getPet(id)] as const,
  ),
  [
    "exceeds the limit that another process used up",
    "rate_limit_exceeded",
    async (pets, { store, key }) => {
      for (let count = 0; count < 60; count += 1) await store.as(key).listPets();
      return pets.listPets();
    },
  ],
  [
    "uses a key that another process got banned",
    "api_key_banned",
    async (pets, { store, key, clock }) => {
      for (let count = 0; count < 61; count += 1) await store.as(key).listPets();
      clock.advance(2_000);
      for (let count = 0; count < 60; count += 1) await store.as(key).listPets();
      return pets.listPets();
    },
  ],
  [
    "calls a closed store",
    "store_closed",
    async (pets, { store }) => {
      await store.close();
      return pets.createPet(rex);
    },
  ],
];

const ways: readonly (readonly [string, (stocked: Stocked) => Promise<Remote>])[] = [
  ["over the fetch handler", (stocked) => Promise.resolve(clientOf(stocked, ONCE))],
  [
    "over a socket",
    async (stocked) =>
      clientOf(stocked, { ...ONCE, baseUrl: await serve(stocked), fetch: globalThis.fetch }),
  ],
];

/** A call that fails is not repeated, and does not wait. */
const ONCE = { attempts: 1, deadlineSeconds: 1 };

const codeOf = (outcome: Outcome): string => (outcome.isOk() ? "ok" : outcome.error.code);

test.each(rows)(
  "a caller that %s gets %s everywhere, with the same quota",
  async (_, code, act) => {
    const local = await stock();
    const expected = await act(local.store.as(local.key), local);
    expect(codeOf(expected)).toBe(code);
    for (const [way, connect] of ways) {
      const stocked = await stock();
      const outcome = await act(await connect(stocked), stocked);
      const moved = stocked.clock.now() - local.clock.now();
      expect(atSameTime(outcome, moved), way).toEqual(atSameTime(expected, 0));
    }
  },
);

/** The stores do not start in the same second, and only a caller in their process learns the id of its key. */
function atSameTime(outcome: unknown, later: number): unknown {
  return JSON.parse(
    JSON.stringify(outcome, (name, value: unknown) => {
      if (name === "keyId" || name === "plan") return undefined;
      if (typeof value === "bigint") return `${value}n`;
      return name === "resetAt" ? Number(value) - later : value;
    }),
  );
}

test("a storage that fails is storage_unavailable everywhere; only the host sees the cause", async () => {
  const storage: Storage = createMemoryStorage();
  const broken: Storage = {
    ...storage,
    pets: { ...storage.pets, list: () => Promise.resolve(err(storageFailure("disk", undefined))) },
  };
  for (const [, connect] of ways) {
    const stocked = await stock({ storage: broken });
    const outcome = await (await connect(stocked)).listPets();
    const local = await stocked.store.as(stocked.key).listPets();
    const code = "storage_unavailable";
    const { message } = local._unsafeUnwrapErr();
    expect(local._unsafeUnwrapErr()).toMatchObject({ code, quota: { remaining: 58 } });
    expect(outcome._unsafeUnwrapErr()).toMatchObject({ code, message, quota: { remaining: 59 } });
    expect(JSON.stringify(outcome)).not.toContain("disk");
  }
});

test("no key, and a wrong key, get the same errors as in process", async () => {
  for (const apiKey of [undefined, "pet_live_wrong"]) {
    const stocked = await stock();
    const expected = await stocked.store.as(apiKey).listPets();
    const other = await stock();
    for (const connect of [
      () => clientOf(other, { ...ONCE, apiKey }),
      async () =>
        clientOf(other, { ...ONCE, apiKey, baseUrl: await serve(other), fetch: globalThis.fetch }),
    ]) {
      const { code, message } = (await (await connect()).listPets())._unsafeUnwrapErr();
      expect({ code, message }).toMatchObject({
        code: expected._unsafeUnwrapErr().code,
        message: expected._unsafeUnwrapErr().message,
      });
    }
  }
});

test("a number that has lost its last digits is refused, not sent as another number", async () => {
  const stocked = await stock();
  const outcome = await clientOf(stocked).createPet({ ...rex, categoryId: 2 ** 60 });
  expect(codeOf(outcome)).toBe("invalid_pet");
});

test("without the fields of the draft, the other window shows the one that binds", async () => {
  const stocked = await stock();
  const client = clientOf(stocked, { fetch: createFetchHandler(stocked.store) });
  const { quota } = (await client.listPets())._unsafeUnwrap();
  const { limit, remaining, resetAt } = quota;
  expect({ limit, remaining }).toEqual({ limit: 60, remaining: 59 });
  expect([quota.minute, quota.day]).toEqual(Array(2).fill({ limit, remaining, resetAt }));
});

test("a wrong option throws a TypeError that names it", () => {
  for (const [name, value] of [
    ["baseUrl", "/v1"],
    ["baseUrl", "http://user:secret@pets.test/v1"],
    ["apiKey", "a\nb"],
    ["apiKey", ""],
    ["maxInFlight", 0],
    ["attempts", 1.5],
    ["attemptSeconds", -1],
    ["deadlineSeconds", NaN],
  ]) {
    const create = () => createPetsClient({ [String(name)]: value });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`option ${name} must`);
  }
});
