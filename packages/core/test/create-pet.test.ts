import { inspect } from "node:util";
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

  const rex = { name: "Rex", categoryId: 1n };
  const code = "invalid_pet";
  it.each<[string, string, ...unknown[]]>([
    ["name", "must be a string of well-formed text without NUL", undefined, 5, "a\0b", "\uD800"],
    ["categoryId", "must be an int64 integer", undefined, 1.5, "1", null, true, Number.NaN],
    ["categoryId", "must be an int64 integer", 2 ** 63, 1e300, INT64_MAX + 1n, INT64_MIN - 1n],
    ["categoryId", "must be an int64 integer; beyond 2^53 − 1, pass a bigint", 2 ** 53, -(2 ** 53)],
    ["status", "must be one of available, pending, sold", "lost", null],
  ])("refuses a pet whose %s is wrong, and says that it %s", async (field, rule, ...values) => {
    for (const value of values) {
      const refusal = error(await trusted.createPet({ ...rex, [field]: value }));
      expect(refusal, inspect(value)).toEqual({ code, message: `${field} ${rule}.` });
    }
  });

  it("names every wrong field, of its own fields alone, and refuses what is no object", async () => {
    const refusalOf = async (input: unknown) => error(await trusted.createPet(input as never));
    expect((await refusalOf({ status: 1 })).message).toMatch(
      /^name must .*; categoryId must .*; status must .*\.$/,
    );
    for (const input of [Object.create(rex), JSON.parse('{"__proto__":{"name":"x"}}')]) {
      expect((await refusalOf(input)).message).toMatch(/^name must .*; categoryId must /);
    }
    for (const input of [null, [], "Rex"]) {
      expect(await refusalOf(input)).toEqual({ code, message: "the pet must be an object." });
    }
  });
});
