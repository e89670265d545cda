import { inspect } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createPetStore,
  INT64_MAX,
  INT64_MIN,
  petStatuses,
  type ListPetsInput,
} from "@petstore/core";
import { error, value } from "./support/open-store.js";

const { trusted } = createPetStore();
const code = "invalid_query";
const upTo = (last: number) => Array.from({ length: last }, (_, index) => BigInt(index + 1));

describe("listPets", () => {
  beforeAll(async () => {
    for (let index = 0; index < 120; index += 1) {
      const status = petStatuses[index % petStatuses.length];
      value(await trusted.createPet({ name: `pet ${index}`, categoryId: 1n, status }));
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
  ])("lists the page of %o, in ascending order of id", async (query, ids, next) => {
    const page = value(await trusted.listPets(query));
    expect([page.pets.map(({ id }) => id), page.next]).toEqual([ids, next]);
    expect(Object.isFrozen(page.pets)).toBe(true);
  });

  it.each<[string, string, ...unknown[]]>([
    ["limit", "must be an integer from 1 to 100", 0, 101, 1.5, "5", [1, 2], null],
    ["status", "must be one of available, pending, sold", "lost", "", "SOLD"],
    ["after", "must be an int64 integer", INT64_MAX + 1n, "x"],
    ["after", "must be an int64 integer; beyond 2^53 − 1, pass a bigint", 2 ** 53],
  ])("refuses a query whose %s is wrong, and says that it %s", async (field, rule, ...values) => {
    for (const value of values) {
      const refusal = error(await trusted.listPets({ [field]: value }));
      expect(refusal, inspect(value)).toEqual({ code, message: `${field} ${rule}.` });
    }
  });

  it("names every wrong field, and refuses what is no object", async () => {
    const { message } = error(await trusted.listPets({ limit: 0, after: 0.5 }));
    expect(message).toMatch(/^limit must .*; after must .*\.$/);
    for (const input of [5, null]) {
      const refusal = error(await trusted.listPets(input as never));
      expect(refusal).toEqual({ code, message: "the query must be an object." });
    }
  });
});
