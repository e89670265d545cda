import { createMemoryStorage, type Pet } from "@petstore/core";
import { ok } from "neverthrow";
import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

test("GET /pets responds with a bare array in ascending order of id", async () => {
  const { call, create } = await serve();
  await create('{"name":"Rex","categoryId":7}');
  await create('{"name":"Æsop “quoted” \\"too\\"","categoryId":-1,"status":"sold"}');
  expect(await call()).toMatchObject({
    status: 200,
    body:
      '[{"id":1,"name":"Rex","categoryId":7,"status":"available"},' +
      '{"id":2,"name":"Æsop “quoted” \\"too\\"","categoryId":-1,"status":"sold"}]',
  });
});

test("every wrong parameter is named at once", async () => {
  const { call } = await serve();
  const { body } = await call({ path: "/v1/pets?limit=x&status=y&after=z" });
  expect(body).toMatch(/limit must.*status must.*after must/);
});

test("status restricts the list, and an added pet is seen at once", async () => {
  const { call, create } = await serve();
  const sold = async () => idsOf((await call({ path: "/v1/pets?status=sold" })).body);
  await create('{"name":"a","categoryId":1,"status":"sold"}');
  await create('{"name":"b","categoryId":1}');
  expect(await sold()).toEqual([1]);
  await create('{"name":"c","categoryId":1,"status":"sold"}');
  expect(await sold()).toEqual([1, 3]);
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

test("the next links lead through every pet exactly once, with the client's own parameters", async () => {
  const { call } = await filled(7);
  const pages: unknown[][] = [];
  for (let query = "?unknown=1&limit=3&status=available"; query !== "";) {
    const { body, headers } = await call({ path: `/v1/pets${query}` });
    pages.push(idsOf(body));
    const link = /^<(\?limit=3&status=available&after=\d+)>; rel="next"$/;
    query = link.exec(headers["link"] ?? "")?.[1] ?? "";
  }
  expect(pages).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
});

test("a page has 20 pets by default, and its link names only the last id", async () => {
  const { call } = await filled(21);
  const { body, headers } = await call();
  expect(idsOf(body)).toHaveLength(20);
  expect(headers["link"]).toBe('<?after=20>; rel="next"');
  expect((await call({ path: "/v1/pets?after=20" })).headers).not.toHaveProperty("link");
  expect(idsOf((await call({ path: "/v1/pets?after=-5&limit=100" })).body)).toHaveLength(21);
});

async function filled(count: number) {
  const served = await serve();
  for (let added = 0; added < count; added += 1) {
    await served.store.trusted.createPet({ name: "Rex", categoryId: 1 });
  }
  return served;
}

function idsOf(body: string): unknown[] {
  return (JSON.parse(body) as { readonly id: number }[]).map(({ id }) => id);
}
