import { createMemoryStorage } from "@petstore/core";
import type { Storage } from "@petstore/core/storage";
import { ok } from "neverthrow";
import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { serve, type Call } from "./support/serve.js";

test("getPet announces its end with every status, and nothing else does", async () => {
  const { call, create, store, key } = await serve();
  await create(PET);
  const path = "/v1/pets/1";
  const expectDeprecated = async (status: number, sent: Call = {}): Promise<void> => {
    const headers = {
      deprecation: "@1764892800",
      sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
      link: '<../pets>; rel="successor-version"',
    };
    expect(await call({ path, ...sent })).toMatchObject({ status, headers });
  };
  await expectDeprecated(200);
  await expectDeprecated(200, { method: "HEAD" });
  await expectDeprecated(401, { key: null });
  await expectDeprecated(404, { path: "/v1/pets/x" });
  for (const sent of [{}, { method: "PUT", path }, { path: "/v1/x" }])
    expect(Object.keys((await call(sent)).headers).join()).not.toMatch(/deprecation|sunset/);
  for (let count = 0; count < 60; count += 1) await store.as(key).admit();
  await expectDeprecated(429);
  await store.close();
  await expectDeprecated(503);
});

test.each(["9223372036854775807", "-9223372036854775808", "9007199254740993"])(
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
  const pets: Storage["pets"] = {
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
  };
  return { ...memory, pets };
}
