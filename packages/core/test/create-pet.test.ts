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

  it.each<[string, unknown, string[]]>([
    ["no name", { categoryId: 1n }, ["name"]],
    ["a name that is no string", { name: 5, categoryId: 1n }, ["name"]],
    ["NUL in the name", { name: "a\0b", categoryId: 1n }, ["name"]],
    ["a lone surrogate in the name", { name: "\uD800", categoryId: 1n }, ["name"]],
    ["no categoryId", { name: "Rex" }, ["categoryId"]],
    ["a fraction as categoryId", { name: "Rex", categoryId: 1.5 }, ["categoryId"]],
    ["text as categoryId", { name: "Rex", categoryId: "1" }, ["categoryId"]],
    ["null as categoryId", { name: "Rex", categoryId: null }, ["categoryId"]],
    ["an unsafe number as categoryId", { name: "Rex", categoryId: 2 ** 53 }, ["categoryId"]],
    ["a categoryId beyond int64", { name: "Rex", categoryId: INT64_MAX + 1n }, ["categoryId"]],
    ["an unknown status", { name: "Rex", categoryId: 1n, status: "lost" }, ["status"]],
    ["null as status", { name: "Rex", categoryId: 1n, status: null }, ["status"]],
    ["everything wrong", { status: 1 }, ["name", "categoryId", "status"]],
    ["inherited fields", Object.create({ name: "Rex", categoryId: 1n }), ["name", "categoryId"]],
    ["an own __proto__", JSON.parse('{"__proto__":{"name":"x","categoryId":1}}'), ["name"]],
    ["null", null, ["object"]],
    ["an array", [], ["object"]],
    ["text", "Rex", ["object"]],
  ])("refuses %s and names what is wrong", async (_, input, named) => {
    const refusal = error(await createLoosely(input));
    expect(refusal.code).toBe("invalid_pet");
    for (const field of named) expect(refusal.message).toContain(field);
  });

  it.each([
    [2 ** 60, "categoryId must be an int64 integer; beyond 2^53 − 1, pass a bigint."],
    [-(2 ** 53), "categoryId must be an int64 integer; beyond 2^53 − 1, pass a bigint."],
    [2 ** 63, "categoryId must be an int64 integer."],
    [1e300, "categoryId must be an int64 integer."],
    [Number.NaN, "categoryId must be an int64 integer."],
    [2n ** 63n, "categoryId must be an int64 integer."],
  ])("says how to pass the categoryId %d, if it can be passed", async (categoryId, message) => {
    expect(error(await trusted.createPet({ name: "Rex", categoryId })).message).toBe(message);
  });
});
