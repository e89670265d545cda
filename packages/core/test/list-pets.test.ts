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
