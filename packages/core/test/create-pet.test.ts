import { describe, expect, it } from "vitest";
import { createPetStore, INT64_MAX, INT64_MIN } from "@petstore/core";
import { error, value } from "./support/open-store.js";

const { trusted } = createPetStore();

describe("createPet", () => {
  it("assigns ascending ids and returns the whole pet", async () => {
    const first = value(await trusted.createPet({ name: "Rex", categoryId: 7n, status: "sold" }));
    const second = value(await trusted.createPet({ name: "Ada", categoryId: 7 }));
    expect(first.pet).toEqual({ id: first.pet.id, name: "Rex", categoryId: 7n, status: "sold" });
    expect(second.pet.id).toBeGreaterThan(first.pet.id);
  });

  it.each([
    ["", INT64_MIN],
    ["🐕‍🦺\n\uFFFF", INT64_MAX],
    ["x".repeat(10_000), 2n ** 53n + 1n],
    ["a safe integer", Number.MAX_SAFE_INTEGER],
    ["a negative one", Number.MIN_SAFE_INTEGER],
    ["zero", 0],
  ])("makes the pet %j of category %s available, exactly as given", async (name, categoryId) => {
    const { pet } = value(await trusted.createPet({ name, categoryId }));
    const expected = { id: pet.id, name, categoryId: BigInt(categoryId), status: "available" };
    expect(pet).toEqual(expected);
  });

  it("ignores unknown fields, a client's id among them", async () => {
    const input: object = { name: "Rex", categoryId: 1n, id: 99n, owner: "me" };
    const { pet } = value(await trusted.createPet(input as never));
    expect(Object.keys(pet).toSorted()).toEqual(["categoryId", "id", "name", "status"]);
    expect(pet.id).not.toBe(99n);
  });

  const NAME = "name must be a string of well-formed text without NUL";
  const CATEGORY = "categoryId must be an int64 integer";
  const BIGINT = `${CATEGORY}; beyond 2^53 − 1, pass a bigint`;
  const STATUS = "status must be one of available, pending, sold";
  const OBJECT = "the pet must be an object";
  const rex = { name: "Rex", categoryId: 1n };
  it.each<[string, unknown, string]>([
    ["no name", { categoryId: 1n }, NAME],
    ["a name that is no string", { ...rex, name: 5 }, NAME],
    ["NUL in the name", { ...rex, name: "a\0b" }, NAME],
    ["a lone surrogate in the name", { ...rex, name: "\uD800" }, NAME],
    ["no categoryId", { name: "Rex" }, CATEGORY],
    ...[1.5, "1", null, true, 2 ** 63, 1e300, Number.NaN, INT64_MAX + 1n, INT64_MIN - 1n].map(
      (categoryId): [string, unknown, string] => [
        `the categoryId ${categoryId}`,
        { ...rex, categoryId },
        CATEGORY,
      ],
    ),
    ["the categoryId 2^53", { ...rex, categoryId: 2 ** 53 }, BIGINT],
    ["the categoryId -2^53", { ...rex, categoryId: -(2 ** 53) }, BIGINT],
    ["an unknown status", { ...rex, status: "lost" }, STATUS],
    ["null as status", { ...rex, status: null }, STATUS],
    ["everything wrong", { status: 1 }, `${NAME}; ${CATEGORY}; ${STATUS}`],
    ["inherited fields", Object.create(rex), `${NAME}; ${CATEGORY}`],
    ["an own __proto__", JSON.parse('{"__proto__":{"name":"x"}}'), `${NAME}; ${CATEGORY}`],
    ["null", null, OBJECT],
    ["an array", [], OBJECT],
    ["text", "Rex", OBJECT],
  ])("refuses %s and names what is wrong", async (_, input, problems) => {
    const refusal = error(await trusted.createPet(input as never));
    expect(refusal).toEqual({ code: "invalid_pet", message: `${problems}.` });
  });
});
