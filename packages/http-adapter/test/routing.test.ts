import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

test.each([
  "/v1/pets",
  "/v1/pets?",
  "/v1/pets?x=1",
  "http://pets.test/v1/pets",
  "HTTPS://b:1/v1/pets?limit=1",
])("%s is the list", async (path) => {
  const { call } = await serve();
  const { status, body } = await call({ path });
  expect([status, body]).toEqual([200, "[]"]);
});

test.each([
  "/v1",
  "/v1/",
  "/v1?limit=1",
  "/v1//pets",
  "/v1/pets/",
  "/v1/pets/1/",
  "/v1/pets/1/x",
  "/v1/pets//1",
  "/v1/PETS",
  "/v1/p%65ts",
  "/v1/%2e%2e/v1/pets",
  "/v1/../v1/pets",
  "/v1/./pets",
  "/v1/pets;x=1",
  "/v1/pets#x",
  "/v1/pets%3flimit=1",
  "http://pets.test/v1/dogs",
])("%s is below the base path and no route: 404 not_found, after authentication", async (path) => {
  const { call } = await serve();
  const found = await call({ path });
  expect(found.status).toBe(404);
  expect(found.body).toContain('"not_found"');
  expect(found.headers["x-ratelimit-remaining"]).toBe("59");
  expect((await call({ path, key: null })).status).toBe(401);
  expect((await call({ path, method: "PATCH" })).status).toBe(404);
});

test.each([
  "//evil/v1/pets",
  "/V1/pets",
  "/v1x/pets",
  "/v1%2fpets",
  "/%761/pets",
  "/",
  "/../v1/pets",
  "/x/v1/pets",
  "*",
  "http://pets.test",
  "http://pets.test?/v1/pets",
  "ftp://pets.test/v1/pets",
  "http:///v1/pets",
  "http://user:secret@pets.test/v1/pets",
])("%s is not below the base path: the host's", async (path) => {
  const { call } = await serve({ fallback: (_, response) => response.end("host") });
  const method = path === "*" ? "OPTIONS" : "GET";
  expect((await call({ path, method })).body).toBe("host");
});

test.each(["01", "1.0", "1e0", "+1", "-0", "%31", "0x1", "one", "9223372036854775808", "1 "])(
  "%j names no pet: 404 pet_not_found",
  async (id) => {
    const { call, create } = await serve();
    await create('{"name":"Rex","categoryId":1}');
    const { status, body } = await call({ path: `/v1/pets/${id.replace(" ", "%20")}` });
    expect(status).toBe(404);
    expect(body).toContain('"pet_not_found"');
  },
);
