import { createMemoryStorage, type Pet } from "@petstore/core";
import { ok } from "neverthrow";
import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

test("GET /pets responds with a bare array in ascending order of id", async () => {
  const { call, create } = await serve();
  await create('{"name":"Rex","categoryId":7}');
  await create('{"name":"Æsop “quoted” \\"too\\"","categoryId":-1,"status":"sold"}');

  const { status, body } = await call();

  expect(status).toBe(200);
  expect(body).toBe(
    '[{"id":1,"name":"Rex","categoryId":7,"status":"available"},' +
      '{"id":2,"name":"Æsop “quoted” \\"too\\"","categoryId":-1,"status":"sold"}]',
  );
});

test("every wrong parameter is named at once", async () => {
  const { call } = await serve();
  const { body } = await call({ path: "/v1/pets?limit=x&status=y&after=z" });
  expect(body).toMatch(/limit must.*status must.*after must/);
});

test("status restricts the list, and an added pet is seen at once", async () => {
  const { call, create } = await serve();
  await create('{"name":"a","categoryId":1,"status":"sold"}');
  await create('{"name":"b","categoryId":1}');
  expect((await call({ path: "/v1/pets?status=sold" })).body).toContain('"id":1');
  await create('{"name":"c","categoryId":1,"status":"sold"}');
  const { body } = await call({ path: "/v1/pets?status=sold" });
  expect(body).toContain('"id":3');
  expect(body).not.toContain('"id":2');
});

test("a page that is the same array again, changed, is rendered again", async () => {
  const storage = createMemoryStorage();
  const page: Pet[] = [];
  const list = () => Promise.resolve(ok({ pets: page, next: undefined }));
  const { call } = await serve({
    store: { storage: { ...storage, pets: { ...storage.pets, list } } },
  });
  expect((await call()).body).toBe("[]");
  page.push({ id: 1n, name: "Rex", categoryId: 7n, status: "sold" });
  expect((await call()).body).toContain("Rex");
});
