import { beforeAll, describe, expect, it } from "vitest";
import { createPetStore, INT64_MAX, INT64_MIN, petStatuses, type PetPage } from "@petstore/core";
import { error, value } from "./support/open-store.js";

const { trusted } = createPetStore();
const idsOf = ({ pets }: PetPage) => pets.map(({ id }) => id);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => BigInt(index + 1));

describe("listPets", () => {
  beforeAll(async () => {
    for (let index = 0; index < 120; index += 1) {
      const status = petStatuses[index % petStatuses.length];
      value(await trusted.createPet({ name: `pet ${index}`, categoryId: 1n, status }));
    }
  });

  it("lists 20 pets in ascending order of id by default", async () => {
    const page = value(await trusted.listPets());
    expect(idsOf(page)).toEqual(upTo(20));
    expect(page.next).toBe(20n);
    expect(Object.isFrozen(page.pets)).toBe(true);
  });

  it.each([1, 100])("lists %i pets when that is the limit", async (limit) => {
    expect(value(await trusted.listPets({ limit })).pets).toHaveLength(limit);
  });

  it("lists every pet once when next is followed to the end", async () => {
    const seen: bigint[] = [];
    let after: bigint | undefined;
    do {
      const page = value(await trusted.listPets({ limit: 7, after }));
      seen.push(...idsOf(page));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(upTo(120));
  });

  it("lists only the pets with the given status", async () => {
    const { pets, next } = value(await trusted.listPets({ status: "sold", limit: 40 }));
    expect(pets.map(({ status }) => status)).toEqual(Array(40).fill("sold"));
    expect(next).toBeUndefined();
  });

  it("starts anywhere in int64", async () => {
    expect(idsOf(value(await trusted.listPets({ after: INT64_MIN, limit: 1 })))).toEqual([1n]);
    expect(idsOf(value(await trusted.listPets({ after: INT64_MAX })))).toEqual([]);
  });

  const LIMIT = "limit must be an integer from 1 to 100";
  const STATUS = "status must be one of available, pending, sold";
  const AFTER = "after must be an int64 integer";
  const OBJECT = "the query must be an object";
  it.each<[unknown, string]>([
    [{ limit: 0 }, LIMIT],
    [{ limit: 101 }, LIMIT],
    [{ limit: 1.5 }, LIMIT],
    [{ limit: "5" }, LIMIT],
    [{ limit: [1, 2] }, LIMIT],
    [{ limit: null }, LIMIT],
    [{ status: "lost" }, STATUS],
    [{ status: "" }, STATUS],
    [{ status: "SOLD" }, STATUS],
    [{ after: INT64_MAX + 1n }, AFTER],
    [{ after: 2 ** 53 }, `${AFTER}; beyond 2^53 − 1, pass a bigint`],
    [{ after: "x" }, AFTER],
    [{ limit: 0, status: 0, after: 0.5 }, `${LIMIT}; ${STATUS}; ${AFTER}`],
    [5, OBJECT],
    [null, OBJECT],
  ])("refuses %o and says so", async (input, problem) => {
    const refusal = error(await trusted.listPets(input as never));
    expect(refusal).toEqual({ code: "invalid_query", message: `${problem}.` });
  });
});
