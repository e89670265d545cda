import { beforeAll, describe, expect, it } from "vitest";
import { createPetStore, INT64_MAX, INT64_MIN, petStatuses } from "@petstore/core";
import { error, value } from "./support/open-store.js";

const { trusted } = createPetStore();

/** Calls listPets as a JavaScript caller might, without types. */
const listLoosely = (input: unknown) => trusted.listPets(input as never);

describe("listPets", () => {
  beforeAll(async () => {
    for (let index = 0; index < 120; index += 1) {
      const status = petStatuses[index % petStatuses.length];
      value(await trusted.createPet({ name: `pet ${index}`, categoryId: 1n, status }));
    }
  });

  it("lists 20 pets in ascending order of id by default", async () => {
    const { pets, next } = value(await trusted.listPets());
    expect(pets.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i + 1)));
    expect(next).toBe(20n);
    expect(Object.isFrozen(pets)).toBe(true);
  });

  it.each([1, 100])("lists %i pets when that is the limit", async (limit) => {
    expect(value(await trusted.listPets({ limit })).pets).toHaveLength(limit);
  });

  it("lists every pet once when next is followed to the end", async () => {
    const seen: bigint[] = [];
    let after: bigint | undefined;
    do {
      const page = value(await trusted.listPets({ limit: 7, after }));
      seen.push(...page.pets.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(Array.from({ length: 120 }, (_, i) => BigInt(i + 1)));
  });

  it("lists only the pets with the given status", async () => {
    const { pets, next } = value(await trusted.listPets({ status: "sold", limit: 40 }));
    expect(pets).toHaveLength(40);
    expect(new Set(pets.map(({ status }) => status))).toEqual(new Set(["sold"]));
    expect(next).toBeUndefined();
  });

  it("starts anywhere in int64", async () => {
    expect(value(await trusted.listPets({ after: INT64_MIN, limit: 1 })).pets[0]?.id).toBe(1n);
    expect(value(await trusted.listPets({ after: INT64_MAX })).pets).toEqual([]);
  });

  const LIMIT = "limit must be an integer from 1 to 100";
  const STATUS = "status must be one of available, pending, sold";
  const AFTER = "after must be an int64 integer";
  it.each<[string, unknown, string]>([
    ["limit 0", { limit: 0 }, LIMIT],
    ["limit 101", { limit: 101 }, LIMIT],
    ["a fractional limit", { limit: 1.5 }, LIMIT],
    ["text as limit", { limit: "5" }, LIMIT],
    ["several limits", { limit: [1, 2] }, LIMIT],
    ["null as limit", { limit: null }, LIMIT],
    ["an unknown status", { status: "lost" }, STATUS],
    ["an empty status", { status: "" }, STATUS],
    ["another case of a status", { status: "SOLD" }, STATUS],
    ["an after beyond int64", { after: INT64_MAX + 1n }, AFTER],
    ["an unsafe number as after", { after: 2 ** 53 }, `${AFTER}; beyond 2^53 − 1, pass a bigint`],
    ["text as after", { after: "x" }, AFTER],
    ["everything wrong", { limit: 0, status: 0, after: 0.5 }, `${LIMIT}; ${STATUS}; ${AFTER}`],
    ["no object", 5, "the query must be an object"],
    ["null", null, "the query must be an object"],
  ])("refuses %s and says so", async (_, input, problem) => {
    const refusal = error(await listLoosely(input));
    expect(refusal).toEqual({ code: "invalid_query", message: `${problem}.` });
  });
});
