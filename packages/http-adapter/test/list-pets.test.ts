import { createMemoryStorage, type Pet } from "@petstore/core";
import { ok } from "neverthrow";
import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

test("GET /pets responds with a bare array in ascending order of id; status restricts it, and an added pet is in it at once", async () => {
  const { call, create } = await serve();
  await create('{"name":"Rex","categoryId":7}');
  await create('{"name":"Æsop “quoted” \\"too\\"","categoryId":-1,"status":"sold"}');
  const rex = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}';
  const aesop = '{"id":2,"name":"Æsop “quoted” \\"too\\"","categoryId":-1,"status":"sold"}';
  expect(await call()).toMatchObject({ status: 200, body: `[${rex},${aesop}]` });
  const sold = async () => (await call({ path: "/v1/pets?status=sold" })).body;
  expect(await sold()).toBe(`[${aesop}]`);
  await create('{"name":"c","categoryId":1,"status":"sold"}');
  expect(idsOf(await sold())).toEqual([2, 3]);
});

test("a page that is the same array again, changed, is rendered again", async () => {
  const storage = createMemoryStorage();
  const page: Pet[] = [];
  const list = () => Promise.resolve(ok({ pets: page, next: undefined }));
  const pets = { ...storage.pets, list };
  const { call } = await serve({ store: { storage: { ...storage, pets } } });
  expect((await call()).body).toBe("[]");
  page.push({ id: 1n, name: "Rex", categoryId: 7n, status: "sold" });
  expect((await call()).body).toContain("Rex");
});

test.each([
  ["", "", [20, 1]],
  ["?unknown=1&limit=9&status=available", "limit=9&status=available&", [9, 9, 3]],
])("from /pets%s, next links lead through every pet once", async (query, own, sizes) => {
  const { call, store } = await serve();
  for (let id = 1; id <= 21; id += 1) await store.trusted.createPet({ name: "a", categoryId: 1 });
  const pages: unknown[][] = [];
  for (let next: string | undefined = query; next !== undefined;) {
    const { body, headers } = await call({ path: `/v1/pets${next}` });
    pages.push(idsOf(body));
    const { link } = headers;
    next = link?.slice(1, link.indexOf(">"));
    if (link !== undefined) expect(link).toBe(`<?${own}after=${pages.flat().length}>; rel="next"`);
  }
  expect(pages.map(({ length }) => length)).toEqual(sizes);
  expect(pages.flat()).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
});

function idsOf(body: string): unknown[] {
  return (JSON.parse(body) as { readonly id: number }[]).map(({ id }) => id);
}
