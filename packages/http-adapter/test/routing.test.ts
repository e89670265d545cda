import { createNodeHandler, createPetStoreServer } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { words } from "./support/conformance/case.js";
import { listen, makeStore, serve, serveHandler } from "./support/serve.js";

const elsewhere =
  words(`//evil/v1/pets /V1/pets /v1x/pets /v1%2fpets /%761/pets / /../v1/pets /x/v1/pets *
  http://pets.test http://pets.test?/v1/pets ftp://pets.test/v1/pets http:///v1/pets
  http://user:secret@pets.test/v1/pets`);

test.each(elsewhere)("%s is not below the base path: the host's", async (path) => {
  const { call } = await serve({ fallback: (_, response) => response.end("host") });
  const method = path === "*" ? "OPTIONS" : "GET";
  expect((await call({ path, method })).body).toBe("host");
});

test("as the listener of a server it responds to everything: elsewhere with 404", async () => {
  const { call } = await serveHandler((handle) => handle);
  expect((await call()).status).toBe(200);
  expect((await call({ path: "/" })).body).toContain('"not_found"');
  // The first check is the message's own syntax, as on a server of ours.
  expect((await call({ path: "/", headers: ["Host: b"] })).status).toBe(400);
});

test("as the fallback of a server of ours it serves a second store", async () => {
  const second = await makeStore();
  const { store, key } = await makeStore();
  const fallback = createNodeHandler(second.store, { basePath: "/v2" });
  const { call } = await listen(createPetStoreServer(store, { fallback }), key);
  expect((await call({ path: "/v2/pets", key: second.key })).status).toBe(200);
  expect((await call({ path: "/" })).status).toBe(404);
});

test('with the base path "" everything that arrives is below it', async () => {
  const { call } = await serve({ basePath: "" });
  const statusOf = async (path: string) => (await call({ path })).status;
  expect(await Promise.all(["/pets", "/", "//evil/pets"].map(statusOf))).toEqual([200, 404, 404]);
  expect((await call({ path: "/", key: null })).status).toBe(401);
});
