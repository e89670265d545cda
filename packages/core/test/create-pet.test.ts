import { describe, expect, it } from "vitest";
import { createPetStore, INT64_MAX, INT64_MIN } from "@petstore/core";
import { error, value } from "./support/open-store.js";

const { trusted } = createPetStore();

/** Calls createPet as a JavaScript caller might, without types. */
const createLoosely = (input: unknown) => trusted.createPet(input as never);

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
  ])("makes the pet %j of category %s available, exactly as given", async (name, categoryId) => {
    const { pet } = value(await trusted.createPet({ name, categoryId }));
    expect(pet).toEqual({ id: pet.id, name, categoryId, status: "available" });
  });

  it("ignores unknown fields, a client's id among them", async () => {
    const result = await createLoosely({ name: "Rex", categoryId: 1n, id: 99n, owner: "me" });
    const { pet } = value(result);
    expect(Object.keys(pet).toSorted()).toEqual(["categoryId", "id", "name", "status"]);
    expect(pet.id).not.toBe(99n);
  });

  const NAME = "name must be a string of well-formed text without NUL";
  const CATEGORY = "categoryId must be an int64 integer";
  const STATUS = "status must be one of available, pending, sold";
  it.each<[string, unknown, string]>([
    ["no name", { categoryId: 1n }, NAME],
    ["a name that is no string", { name: 5, categoryId: 1n }, NAME],
    ["NUL in the name", { name: "a\0b", categoryId: 1n }, NAME],
    ["a lone surrogate in the name", { name: "\uD800", categoryId: 1n }, NAME],
    ["no categoryId", { name: "Rex" }, CATEGORY],
    ["a fraction as categoryId", { name: "Rex", categoryId: 1.5 }, CATEGORY],
    ["text as categoryId", { name: "Rex", categoryId: "1" }, CATEGORY],
    ["null as categoryId", { name: "Rex", categoryId: null }, CATEGORY],
    ["a categoryId beyond int64", { name: "Rex", categoryId: INT64_MAX + 1n }, CATEGORY],
    ["an unknown status", { name: "Rex", categoryId: 1n, status: "lost" }, STATUS],
    ["null as status", { name: "Rex", categoryId: 1n, status: null }, STATUS],
    ["everything wrong", { status: 1 }, `${NAME}; ${CATEGORY}; ${STATUS}`],
    ["inherited fields", Object.create({ name: "Rex", categoryId: 1n }), `${NAME}; ${CATEGORY}`],
    [
      "an own __proto__",
      JSON.parse('{"__proto__":{"name":"x","categoryId":1}}'),
      `${NAME}; ${CATEGORY}`,
    ],
    ["null", null, "the pet must be an object"],
    ["an array", [], "the pet must be an object"],
    ["text", "Rex", "the pet must be an object"],
  ])("refuses %s and names what is wrong", async (_, input, problems) => {
    const refusal = error(await createLoosely(input));
    expect(refusal).toEqual({ code: "invalid_pet", message: `${problems}.` });
  });

  it.each([
    [2 ** 53, `${CATEGORY}; beyond 2^53 − 1, pass a bigint.`],
    [-(2 ** 53), `${CATEGORY}; beyond 2^53 − 1, pass a bigint.`],
    [2 ** 63, `${CATEGORY}.`],
    [1e300, `${CATEGORY}.`],
    [Number.NaN, `${CATEGORY}.`],
    [2n ** 63n, `${CATEGORY}.`],
  ])("says how to pass the categoryId %d, if it can be passed", async (categoryId, message) => {
    expect(error(await trusted.createPet({ name: "Rex", categoryId })).message).toBe(message);
  });
});
