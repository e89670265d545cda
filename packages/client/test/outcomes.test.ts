import { inspect } from "node:util";
import { createMemoryStorage, standardPlans } from "@petstore/core";
import type { Pets, PetStoreOptions } from "@petstore/core";
import type { OperationName } from "@petstore/core/facts";
import { limitNames, parseNewPet } from "@petstore/core/internal";
import { storageError } from "@petstore/core/storage";
import { createPetsClient, type TransportError } from "@petstore/client";
import { err, type Result, type ResultAsync } from "neverthrow";
import nodeFetch from "node-fetch";
import { fetch as undiciFetch } from "undici";
import { expect, test } from "vitest";
import { createPetStoreServer } from "@petstore/http-adapter";
import { filters, unusualPets } from "../../storage-contract/src/samples.js";
import { ANY, clientOf, listen, rex, stock, type Stocked } from "./support/stores.js";

type Remote = Pets<TransportError>;
type Coded = { readonly code: string };
type Outcome = Result<unknown, Coded>;
type Act = (pets: Remote, stocked: Stocked) => Promise<Outcome> | ResultAsync<unknown, Coded>;
/** The options of the store, and the key of the caller if it is not the one that was issued. */
type Setting = PetStoreOptions & { readonly key?: string };
const MAX = 2n ** 63n - 1n;

/** What a caller does, by operation. Each has rows. */
const acts = {
  listPets: (input?: unknown) => (pets: Remote) => pets.listPets(input as never),
  createPet: (input: unknown, idempotencyKey?: string) => (pets: Remote) =>
    pets.createPet(input as never, { idempotencyKey }),
  getPet: (id: unknown) => (pets: Remote) => pets.getPet(id as never),
} satisfies Readonly<Record<OperationName, (...input: never) => Act>>;
const { listPets: list, createPet: create, getPet: get } = acts;
const close = (_: Remote, { store }: Stocked) => store.close();
function both(first: Act | typeof close, second: Act): Act {
  return async (pets, stocked) => {
    await first(pets, stocked);
    return second(pets, stocked);
  };
}
/** Lists pets after another process has used the key: so many requests, and then milliseconds, one after the other. */
function listAfter(...uses: readonly (readonly [requests: number, wait: number])[]): Act {
  return async (pets, { store, key, clock }) => {
    for (const [requests, wait] of uses) {
      for (let request = 0; request < requests; request += 1) await store.as(key).listPets();
      clock.advance(wait);
    }
    return pets.listPets();
  };
}

const memory = createMemoryStorage();
const listFails = () => Promise.resolve(err(storageError("disk")));
const brokenStorage = { ...memory, pets: { ...memory.pets, list: listFails } };

/** A pet to create for each value that a storage must keep exact. */
const exact = unusualPets.flatMap((pet): [string, string, Act][] =>
  parseNewPet(pet).isOk() ? [[`creates an exact pet: ${inspect(pet)}`, "ok", create(pet)]] : [],
);

const free = (perMinute: number, perDay: number): Setting => ({
  plans: { free: { perMinute, perDay } },
});
const limits = Object.fromEntries(limitNames.map((name, index) => [name, index + 5]));
const everyLimit: Setting = { plans: { free: { ...standardPlans.free, ...limits } } };
const DIFFICULT = '😀 "id":12345678901234567890 \\" \u2028 \n {"int64":"1"} é';
const max = create({ ...rex, name: "Max" }, "a");

/** What a caller does, and the code of its outcome: `ok` if it succeeds. */
const rows: readonly [string, string, Act, Setting?][] = [
  ["lists all", "ok", list()],
  ...filters.map((of): [string, string, Act] => [inspect(of), "ok", list({ limit: 1, ...of })]),
  ["lists the page after an id", "ok", list({ limit: 1, after: 1n })],
  ["lists after the greatest id", "ok", list({ after: MAX })],
  ["lists by wrong values", "invalid_query", list({ limit: 1.5, status: "lost", after: MAX + 1n })],
  ["lists by other types", "invalid_query", list({ limit: "5", status: 5, after: "1" })],
  ["creates a pet", "ok", create(rex)],
  ["creates in the smallest category", "ok", create({ ...rex, categoryId: -MAX - 1n })],
  ["creates in the greatest one", "ok", create({ ...rex, categoryId: MAX, status: "sold" })],
  ["creates in category -0", "ok", create({ ...rex, categoryId: -0 })],
  ["creates a pet with a difficult name", "ok", create({ ...rex, name: DIFFICULT })],
  ...exact,
  ["creates by inherited fields", "invalid_pet", create(Object.create({ ...rex, id: 5 }))],
  ["creates from an array", "invalid_pet", create([rex])],
  ["creates from null", "invalid_pet", create(null)],
  ["creates by other types", "invalid_pet", create({ name: 7n, categoryId: "7", status: null })],
  ["creates by wrong values", "invalid_pet", create({ name: "\ud83d", categoryId: MAX + 1n })],
  ["creates twice with one key", "ok", both(create(rex, 'a"b\\c,;'), create(rex, 'a"b\\c,;'))],
  ["creates another pet with a used key", "idempotency_key_reused", both(create(rex, "a"), max)],
  ["creates with an empty key", "invalid_idempotency_key", create(rex, "")],
  ["creates with a key of two lines", "invalid_idempotency_key", create(rex, "a\r\nb")],
  ["finds a pet", "ok", get("1")],
  ...["9", "01", "", "..", "1/2", "?", 1.5, MAX + 1n].map(
    (id) => [`finds no pet ${id}`, "pet_not_found", get(id)] as [string, string, Act],
  ),
  ["lists with a limit in each window", "ok", list(), everyLimit],
  ["lists with as many left in both windows", "ok", list(), free(2, 2)],
  ["lists with as many left in the later minute", "ok", listAfter([1, 86_370_000]), free(2, 3)],
  ["exceeds the limit after another process", "rate_limit_exceeded", listAfter([60, 0])],
  ["has a key that got banned there", "api_key_banned", listAfter([61, 2_000], [60, 0])],
  ["calls a closed store", "store_closed", both(close, create(rex))],
  ["calls a broken storage", "storage_unavailable", list(), { storage: brokenStorage }],
  ["has a wrong key", "invalid_api_key", list(), { key: "pet_live_wrong" }],
];

const ONCE = { attempts: 1, deadlineSeconds: 1 };

async function open({ key, ...options }: Setting = {}): Promise<Stocked> {
  const stocked = await stock(options);
  for (const status of ["sold", "available", "sold"] as const)
    await stocked.store.trusted.createPet({ ...rex, categoryId: 2n ** 53n + 1n, status });
  return { ...stocked, key: key ?? stocked.key };
}

const connections = [
  (stocked: Stocked) => clientOf(stocked, ONCE),
  ...[fetch, undiciFetch, nodeFetch].map((each) => async (stocked: Stocked) => {
    const server = createPetStoreServer(stocked.store, { rateLimitFields: "draft-11" });
    return clientOf(stocked, { ...ONCE, baseUrl: await listen(server), fetch: each as never });
  }),
];

test.each(rows)("a caller that %s gets %s, one quota everywhere", async (_, code, act, setting) => {
  const local = await open(setting);
  const expected = await act(local.store.as(local.key), local);
  expect(codeOf(expected)).toBe(code);
  for (const connect of connections) {
    const stocked = await open(setting);
    const outcome = await act(await connect(stocked), stocked);
    const moved = stocked.clock.now() - local.clock.now();
    expect(atSameTime(outcome, moved)).toEqual(atSameTime(expected, 0, ONLY_LOCAL));
  }
});

const codeOf = (outcome: Outcome): string => (outcome.isOk() ? "ok" : outcome.error.code);
const ONLY_LOCAL = ["keyId", "plan", "cause"];

/** The stores do not start in the same second. */
function atSameTime(outcome: unknown, later: number, hidden: readonly string[] = []): unknown {
  const text = JSON.stringify(outcome, (name, value: unknown) => {
    if (hidden.includes(name)) return undefined;
    if (typeof value === "bigint") return `${value}n`;
    return name === "resetAt" ? Number(value) - later : value;
  });
  return JSON.parse(text);
}

test.each<[name: string, ...values: unknown[]]>([
  ["baseUrl", undefined, "/v1", "http://u:p@pets.test/v1"],
  ["baseUrl", ...[" ", "?", "#"].map((end) => ANY.baseUrl + end)],
  ["apiKey", undefined, "a\nb", ""],
  ["maxInFlight", 0],
  ["attempts", 1.5],
  ["attemptSeconds", -1],
  ["deadlineSeconds", NaN],
])("the option %s of %j throws a TypeError that names it", (name, ...values) => {
  for (const value of values) {
    const create = () => createPetsClient({ ...ANY, [name]: value });
    expect(create, String(value)).toThrow(TypeError);
    expect(create, String(value)).toThrow(`option ${name} must`);
  }
});

test("no call rejects, also with options that are none; a query that is null, and a number that has lost its last digits, are refused, not sent as others", async () => {
  const client = clientOf(await stock());
  expect(codeOf(await client.createPet({ ...rex, categoryId: 2 ** 60 }))).toBe("invalid_pet");
  expect(codeOf(await client.listPets(null as never))).toBe("invalid_query");
  for (const options of [null, undefined, {}]) {
    expect((await client.createPet(rex, options as never)).isOk()).toBe(true);
    expect((await client.listPets({}, options as never)).isOk()).toBe(true);
  }
  for (const options of [{ signal: {} as never }, { deadlineSeconds: NaN }]) {
    const listed = await client.listPets({}, options);
    expect(listed._unsafeUnwrapErr()).toMatchObject({ code: "unreachable", cause: {} });
  }
});

test("a key with the largest limits is served, with the fields of the draft or without them", async () => {
  const most = 2 ** 53 - 1;
  const client = clientOf(await stock(free(most, most)));
  const { quota } = (await client.createPet(rex))._unsafeUnwrap();
  expect(quota).toMatchObject({ limit: most, remaining: most - 1 });
});
