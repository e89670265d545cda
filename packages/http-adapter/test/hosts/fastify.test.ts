import { petStorePlugin } from "@petstore/http-adapter";
import fastify from "fastify";
import { expect, test } from "vitest";
import { makeStore } from "../support/serve.js";
import { createHost } from "./fastify.js";
import { startHost } from "./host.js";

test("app.inject() reaches the store without a socket", async () => {
  const { store, key } = await makeStore();
  await using app = fastify();
  await app.register(petStorePlugin, { store });
  const headers = { authorization: `Bearer ${key}` };
  const payload = '{"name":"Rex","categoryId":9007199254740993}';
  const created = await app.inject({ method: "POST", url: "/v1/pets", headers, payload });
  expect([created.statusCode, created.headers.location]).toEqual([201, "/v1/pets/1"]);
  expect((await app.inject({ url: "/v1/pets", headers })).body).toContain("9007199254740993");
  expect((await app.inject({ url: "/v1/pets" })).statusCode).toBe(401);
  expect((await app.inject({ url: "/x" })).json()).toMatchObject({ error: "Not Found" });
});

test("the host's hooks run on the store's responses, and the headers that they set go out", async () => {
  const seen: number[] = [];
  const { call } = await startHost(
    createHost("", "/v1", (app) => {
      app.addHook("onRequest", async (_, reply) => void reply.header("X-Host", "kept"));
      app.addHook("onResponse", async (_, reply) => void seen.push(reply.statusCode));
    }),
  );
  expect((await call()).headers).toMatchObject({ "x-host": "kept", "x-ratelimit-remaining": "59" });
  expect((await call({ key: null })).status).toBe(401);
  await expect.poll(() => seen).toEqual([200, 401]);
});

test("the plugin is encapsulated: its hook sees no request of the host's", async () => {
  const { store } = await makeStore();
  await using app = fastify();
  await app.register(petStorePlugin, { store });
  app.get("/v1/health", () => "well");
  app.setNotFoundHandler((_, reply) => void reply.code(404).send("The host's own 404"));
  expect((await app.inject({ url: "/v1/health" })).statusCode).toBe(200);
  for (const url of ["/nowhere", "/%76%31/pets", "/v1x"]) {
    expect((await app.inject({ url })).body).toBe("The host's own 404");
  }
});

test.each([{ basePath: "v1" }, { basepath: "/v1" }, { maxBodyBytes: 0 }])(
  "registering with %j fails and names the option",
  async (options) => {
    const { store } = await makeStore();
    const app = fastify();
    const register = async (): Promise<void> => {
      await app.register(petStorePlugin, { store, ...options });
    };
    await expect(register()).rejects.toThrow(/option \w+ /);
  },
);
