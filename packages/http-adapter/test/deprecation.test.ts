import { expect, test } from "vitest";
import { serve, type Call } from "./support/serve.js";

const DEPRECATION = {
  deprecation: "@1764892800",
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  link: '<../pets>; rel="successor-version"',
};

test.each<[status: number, sent: Call]>([
  [200, { path: "/v1/pets/1" }],
  [200, { path: "/v1/pets/1", method: "HEAD" }],
  [401, { path: "/v1/pets/1", key: null }],
  [404, { path: "/v1/pets/2" }],
  [404, { path: "/v1/pets/x" }],
])("getPet announces its end with a %i: %j", async (status, sent) => {
  const { call, create } = await serve();
  await create('{"name":"Rex","categoryId":1}');
  const response = await call(sent);
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject(DEPRECATION);
});

test("getPet announces its end with a 429 and a 503", async () => {
  const { call, store } = await serve();
  for (let count = 0; count < 60; count += 1) await call();
  expect(await call({ path: "/v1/pets/1" })).toMatchObject({ status: 429, headers: DEPRECATION });
  await store.close();
  expect(await call({ path: "/v1/pets/1" })).toMatchObject({ status: 503, headers: DEPRECATION });
});

test.each<Call>([
  {},
  { method: "POST", body: "{}" },
  { path: "/v1/pets/1", method: "PUT" },
  { path: "/v1/x" },
])("nothing else is deprecated: %j", async (sent) => {
  const { call } = await serve();
  const { headers } = await call(sent);
  expect(headers).not.toHaveProperty("deprecation");
  expect(headers).not.toHaveProperty("sunset");
});
