import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

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
