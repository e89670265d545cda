import { inspect } from "node:util";
import { beforeAll, expect, it, vi } from "vitest";
import { createPetStore, parseInt64, petStatuses, type ListPetsInput } from "@petstore/core";
import { INT64_MAX } from "@petstore/core/storage";
import { INT64_MIN, petFilters } from "@petstore/core/internal";
import { error, openStore, rex, value } from "./support/open-store.js";
import { unusualPets } from "../../storage-contract/src/samples.js";

const { trusted } = createPetStore();

it.each([
  ["", INT64_MIN],
  ["🐕‍🦺\n\uFFFF", INT64_MAX],
  ["x".repeat(10_000), 2n ** 53n + 1n],
  ["a safe integer", Number.MAX_SAFE_INTEGER],
  ["a negative one", Number.MIN_SAFE_INTEGER],
  ["zero", 0],
])("the pet %j of category %s is as given, without unknown fields", async (name, categoryId) => {
  const unknown = { id: 99n, owner: "me" };
  const { pet } = value(await trusted.createPet({ ...unknown, name, categoryId }));
  expect(pet).toEqual({ id: pet.id, name, categoryId: BigInt(categoryId), status: "available" });
  expect(pet.id).not.toBe(99n);
});

const NOT_FOUND = { code: "pet_not_found", message: "No pet has this id." };

it.each([1n, 1, "1"])("getPet finds the pet by its id given as %o", async (id) => {
  const { trusted } = openStore().store;
  const { pet } = value(await trusted.createPet(rex));
  const found = value(await trusted.getPet(id)).pet;
  expect([[pet.id, found.id], [pet, found].every(Object.isFrozen)]).toEqual([[1n, 1n], true]);
});

const IMPOSSIBLE = [INT64_MAX + 1n, 2 ** 53, 1.5, Number.NaN, "01", "x", ""];
it.each([0n, INT64_MIN, INT64_MAX, ...IMPOSSIBLE])("getPet finds no pet by %o", async (id) => {
  const { store, storage } = openStore();
  const find = vi.spyOn(storage.pets, "find");
  expect(error(await store.trusted.getPet(id))).toEqual(NOT_FOUND);
  expect(find).toHaveBeenCalledTimes(IMPOSSIBLE.includes(id) ? 0 : 1);
});

const { trusted: many } = createPetStore();
const upTo = (last: number) => Array.from({ length: last }, (_, index) => BigInt(index + 1));

beforeAll(async () => {
  for (let index = 0; index < 120; index += 1) {
    const status = petStatuses[index % petStatuses.length];
    value(await many.createPet({ name: `pet ${index}`, categoryId: 1n, status }));
  }
});

it.each<[ListPetsInput | undefined, readonly bigint[], bigint | undefined]>([
  [undefined, upTo(20), 20n],
  [{ limit: 1 }, [1n], 1n],
  [{ limit: 100 }, upTo(100), 100n],
  [{ limit: 2, after: 117 }, [118n, 119n], 119n],
  [{ limit: 2, after: 118n }, [119n, 120n], undefined],
  [{ limit: 2, status: "sold" }, [3n, 6n], 6n],
  [{ limit: 2, status: "sold", after: 117n }, [120n], undefined],
  [{ limit: 1, after: INT64_MIN }, [1n], 1n],
  [{ after: INT64_MAX }, [], undefined],
])("listPets lists the page of %o, in ascending order of id", async (query, ids, next) => {
  const page = value(await many.listPets(query));
  expect([page.pets.map(({ id }) => id), page.next]).toEqual([ids, next]);
  expect(Object.isFrozen(page.pets)).toBe(true);
});

type Call = "createPet" | "listPets";
type Refusal = { readonly code: string; readonly message: string };
const refusalOf = async (call: Call, input: unknown) =>
  error<unknown, Refusal>(await trusted[call](input as never));
const TEXT = "must be a string of well-formed text without NUL, at most 65536 bytes long";
const INT64 = "must be an int64 integer";
const UNSAFE = `${INT64}; beyond 2^53 − 1, pass a bigint`;
const STATUS = "must be one of available, pending, sold";

const WRONG: readonly [Call, string, string, ...unknown[]][] = [
  ["createPet", "name", TEXT, undefined, 5, "a\0b", "\uD800", "x".repeat(65_537)],
  ["createPet", "name", TEXT, "Ж".repeat(32_769)],
  ["createPet", "categoryId", INT64, undefined, 1.5, "1", null, true, Number.NaN],
  ["createPet", "categoryId", INT64, 2 ** 63, 1e300, INT64_MAX + 1n, INT64_MIN - 1n],
  ["createPet", "categoryId", UNSAFE, 2 ** 53, -(2 ** 53)],
  ["createPet", "status", STATUS, "lost", null],
  ["listPets", "limit", "must be an integer from 1 to 100", 0, 101, 1.5, "5", [1, 2], null],
  ["listPets", "status", STATUS, "lost", "", "SOLD"],
  ["listPets", "after", INT64, INT64_MAX + 1n, "x"],
  ["listPets", "after", UNSAFE, 2 ** 53],
];

it.each(WRONG)("%s refuses wrong input: its %s %s", async (call, field, rule, ...values) => {
  const [base, code] = call === "createPet" ? [rex, "invalid_pet"] : [{}, "invalid_query"];
  for (const value of values) {
    const refusal = await refusalOf(call, { ...base, [field]: value });
    expect(refusal, inspect(value)).toEqual({ code, message: `${field} ${rule}.` });
  }
  const fields = WRONG.flatMap(([other, name]) => (other === call ? name : []));
  const pet = unusualPets.flatMap(Object.keys);
  const all = new Set(call === "createPet" ? pet : ["limit", "after", ...petFilters]);
  expect(new Set(fields), "wrong values of each field").toEqual(all);
});

it.each<[Call, RegExp, ...unknown[]]>([
  ["createPet", /^name must .*; categoryId must .*; status must .*\.$/, { status: 1 }],
  ["createPet", /^name must .*; categoryId must /, Object.create(rex)],
  ["createPet", /^name must .*; categoryId must /, JSON.parse('{"__proto__":{"name":"x"}}')],
  ["createPet", /^the pet must be an object\.$/, null, [], "Rex"],
  ["listPets", /^limit must .*; after must .*\.$/, { limit: 0, after: 0.5 }],
  ["listPets", /^the query must be an object\.$/, 5, null],
])("%s names every wrong field, of its own alone: %s", async (call, message, ...inputs) => {
  for (const input of inputs) expect((await refusalOf(call, input)).message).toMatch(message);
});

it.each([0n, 1n, -1n, INT64_MAX, INT64_MIN, 2n ** 53n + 1n])("parseInt64 parses %s", (number) => {
  expect(parseInt64(String(number))).toBe(number);
});

it.each([
  ...["", "01", "1.0", "1e2", "+1", "-0", " 1", "1 ", "1_0", "0x1", "٣", "1".repeat(1_000_000)],
  ...[String(INT64_MAX + 1n), String(INT64_MIN - 1n)],
])("parseInt64 does not take %j for a number", (text) => {
  expect(parseInt64(text)).toBeUndefined();
});
