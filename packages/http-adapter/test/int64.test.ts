import { expect, test } from "vitest";
import { createMemoryStorage, type Storage } from "@petstore/core";
import { ok } from "neverthrow";
import { serve } from "./support/serve.js";

const EXTREMES = ["9223372036854775807", "-9223372036854775808", "9007199254740993"];

test.each(EXTREMES)(
  "the id %s is exact in every response, in the path, in Location, in the next link and as after",
  async (digits) => {
    const asked: (bigint | undefined)[] = [];
    const { call, create } = await serve({ store: { storage: holding(BigInt(digits), asked) } });
    const created = await create('{"name":"Rex","categoryId":1}');
    expect(created.body).toContain(`{"id":${digits},`);
    expect(created.headers["location"]).toBe(`/v1/pets/${digits}`);
    expect((await call({ path: `/v1/pets/${digits}` })).body).toContain(`{"id":${digits},`);
    const listed = await call({ path: `/v1/pets?after=${digits}` });
    expect(listed.body).toContain(`{"id":${digits},`);
    expect(listed.headers["link"]).toBe(`<?after=${digits}>; rel="next"`);
    expect(asked).toEqual([BigInt(digits), BigInt(digits)]);
  },
);

/** A storage that holds one pet under this id, and records the ids that are looked up. */
function holding(id: bigint, asked: (bigint | undefined)[]): Storage {
  const pet = { id, name: "Rex", categoryId: 1n, status: "available" } as const;
  const memory = createMemoryStorage();
  return {
    ...memory,
    pets: {
      ...memory.pets,
      create: () => Promise.resolve(ok(pet)),
      find: (wanted) => {
        asked.push(wanted);
        return Promise.resolve(ok(wanted === id ? pet : undefined));
      },
      list: ({ after }) => {
        asked.push(after);
        return Promise.resolve(ok({ pets: [pet], next: id }));
      },
    },
  };
}
